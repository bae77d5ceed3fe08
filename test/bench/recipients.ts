// Valid phone numbers that no round has used: Indian mobiles, spread over their whole range as real customers are. Consecutive numbers
// would look like SMS pumping, and the load would be that of an attack.
const RANGE = 1e8
/** Coprime to the size of the range, so that no number comes twice before all have come. */
const STRIDE = 38_196_601

export function recipients(): () => string {
  let next = Math.floor(Math.random() * RANGE)
  return () => {
    next = (next + STRIDE) % RANGE
    return `+9198${String(next).padStart(8, '0')}`
  }
}

// Phone numbers that are valid and that nobody has used: Indian mobiles, spread over their whole range as customers are. One after the
// other they would be what a pump sends to, and the load would be that of an attack.
const RANGE = 1e8
/** Has no factor in common with the range, so that no number comes twice before all have come. */
const STRIDE = 38_196_601

export function recipients(): () => string {
  let next = Math.floor(Math.random() * RANGE)
  return () => {
    next = (next + STRIDE) % RANGE
    return `+9198${String(next).padStart(8, '0')}`
  }
}

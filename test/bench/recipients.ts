// Phone numbers that are valid and that nobody has used: Indian mobiles, from a random place on.
export function recipients(): () => string {
  let next = Math.floor(Math.random() * 1e8)
  return () => {
    next = (next + 1) % 1e8
    return `+9198${String(next).padStart(8, '0')}`
  }
}

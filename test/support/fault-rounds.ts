// How often a fault is repeated. Tests name the number for CI; FAULT_ROUNDS multiplies it (`npm run test:elections`).
import process from 'node:process'

const FACTOR = Number(process.env.FAULT_ROUNDS ?? 1)

export const faultRounds = (count: number): number => Math.ceil(count * FACTOR)

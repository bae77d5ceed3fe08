// How often and on which engines a fault is tried. In CI each step of a table is cut off on one of the two engine sets,
// in turn, because every kill costs two starts of a process. FAULT_ROUNDS=2 and more tries each step on both, and
// repeats kills and cuts as often (`FAULT_ROUNDS=10 npm run test:faults`, `npm run test:elections`).
import process from 'node:process'
import { AMQP_URL, MONGODB_URL } from './engines.ts'
import type { EngineSet } from './site.ts'

const FACTOR = Number(process.env.FAULT_ROUNDS ?? 1)
const IN_TURN = FACTOR <= 1 && Boolean(AMQP_URL && MONGODB_URL)

export const faultRounds = (count: number): number => Math.ceil(count * FACTOR)

/** The steps that this run tries on these engines. */
export const stepsOn = <Step>(engines: EngineSet, steps: readonly Step[]): readonly Step[] =>
  IN_TURN ? steps.filter((_, index) => (index % 2 === 0 ? 'real' : 'embedded') === engines) : steps

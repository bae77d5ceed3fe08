import { DAY_MS } from '../../../infra/time.ts'
// What an app lets be spent on a country in a day, in UTC. The room that is taken stands with the balance that pays, so that both change
// in one write: whatever becomes of the hold becomes of its room.

export interface SpendCap {
  /** Of an app, a country and a day. */
  key: string
  /** Micro-units that all who take room there may take together. */
  limit: number
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS)

export const endOfDay = (at: number): number => (dayOf(at) + 1) * DAY_MS

/** `at`: when the delivery was made, its day is the one that pays. */
export const capKey = (app_id: string, country: string, at: number): string => `${app_id}:${country}:${dayOf(at)}`

/** Whether nobody asks for it any more. A day longer than the day itself: clocks differ. */
export const isExpiredKey = (key: string, now: number): boolean =>
  Number(key.slice(key.lastIndexOf(':') + 1)) < dayOf(now) - 1

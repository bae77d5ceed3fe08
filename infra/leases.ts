// Leases: named pieces of work that one process does at a time. In: a name. Out: whether this process holds its lease. A holder renews
// its lease while it lives; when it dies, another process takes the lease once its time has passed.
import { randomUUID } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Doc, Docs } from './store/docs.ts'
import { collection } from './store/store.ts'

export interface LeaseDoc extends Doc {
  holder: string
  until: number
}

export const LEASE_COLLECTIONS = {
  leases: collection<LeaseDoc>({ indexes: [], belongsTo: [{ to: null, why: 'of processes' }] }),
}

/** For a store that only this process uses: all leases in it are left over from a process that died. */
export async function freeAllLeases(leases: Pick<Docs<LeaseDoc>, 'remove'>): Promise<void> {
  await leases.remove({ _id: { $gt: '' } }, MAX_LEASES)
}

const MAX_LEASES = 10_000

export interface Leases {
  /** Takes a lease that is free, past its time, or this holder's already. */
  take(name: string): Promise<boolean>
  /** Makes sure that a lease is still this holder's; answers false once another holder has taken it. */
  renew(name: string): Promise<boolean>
  /** Frees a lease, so that another process need not wait until its time has passed. */
  release(name: string): Promise<void>
  releaseAll(): Promise<void>
}

export interface LeasesDeps {
  leases: Pick<Docs<LeaseDoc>, 'modify' | 'insert' | 'remove'>
  clock: Pick<Clock, 'now'>
}

export interface LeaseTimes {
  /** How long a lease lasts unless it is renewed. */
  forMs: number
  /** `take` and `renew` ask the store only when no more than this is left. */
  renewBelowMs: number
}

export function createLeases({ leases, clock }: LeasesDeps, { forMs, renewBelowMs }: LeaseTimes): Leases {
  const holder = randomUUID()
  const heldUntil = new Map<string, number>()

  const needsNoWrite = (name: string): boolean => (heldUntil.get(name) ?? 0) - clock.now() > renewBelowMs

  async function takeInStore(_id: string, until: number): Promise<boolean> {
    const mayTake = { _id, $or: [{ holder }, { until: { $lte: clock.now() } }] }
    if (await leases.modify(mayTake, { $set: { holder, until } })) return true
    const [answer] = await leases.insert([{ _id, holder, until }])
    return answer === 'inserted'
  }

  async function renewInStore(_id: string, until: number): Promise<boolean> {
    return (await leases.modify({ _id, holder }, { $set: { until } })) !== null
  }

  async function hold(name: string, write: (name: string, until: number) => Promise<boolean>): Promise<boolean> {
    if (needsNoWrite(name)) return true
    const until = clock.now() + forMs
    const held = await write(name, until)
    if (held) heldUntil.set(name, until)
    else heldUntil.delete(name)
    return held
  }

  async function release(name: string): Promise<void> {
    heldUntil.delete(name)
    await leases.remove({ _id: name, holder }, 1)
  }

  return {
    take: name => hold(name, takeInStore),
    renew: name => hold(name, renewInStore),
    release,
    async releaseAll() {
      await Promise.all([...heldUntil.keys()].map(release))
    },
  }
}

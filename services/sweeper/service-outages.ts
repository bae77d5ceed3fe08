// Times in which no code could be verified, so that a provider is not blamed for them: no OTP process took calls, the
// broker or the store was away, or the whole service was. In: a look at the queue of calls every few seconds. Out: the
// outages of the last hours. A process that starts finds in the store until when the service worked before.
//
// What counts is that a look fails or that a process is new, and not how long ago the last look was: a sweeper that is busy is no outage.
// While no sweeper runs, it is not known whether the service works, so that time is an outage too.
import type { Broker } from '../../infra/broker/broker.ts'
import { depthIfKnown } from '../../infra/broker/depth.ts'
import type { Clock } from '../../infra/clock.ts'
import { changeOne, getOne } from '../../infra/store/one-doc.ts'
import type { Outage } from '../../machines/routes.ts'
import {
  newOutagesDoc,
  OUTAGES_ID,
  type RouteOutagesDoc,
  type RouteStore,
  SLOTS_RETENTION_MS,
} from '../domain/routes/documents.ts'

export interface ServiceOutagesDeps {
  store: RouteStore
  broker: Pick<Broker, 'depth'>
  clock: Clock
}

export interface ServiceOutages {
  /** Null while the service does not work. */
  find(): Promise<Outage[] | null>
  /** The store or the broker has failed elsewhere. How long it was away is told by the time that is stored. */
  engineFailed(): void
}

const LOOK_EVERY_MS = 10_000
/** In a shorter one people wait and try again. It is longer than another sweeper takes to go on. */
const MIN_OUTAGE_MS = 30_000

export function createServiceOutages({ store, broker, clock }: ServiceOutagesDeps): ServiceOutages {
  const docs = store.docs('route_outages')
  /** As stored; null unless the service has worked since this process stored it. */
  let known: RouteOutagesDoc | null = null

  async function takesCalls(): Promise<boolean> {
    const depth = await depthIfKnown(broker, 'otp.calls', clock)
    return depth !== undefined && depth.consumers > 0
  }

  /** Null when another sweeper was first. */
  async function save(now: number): Promise<RouteOutagesDoc | null> {
    const before = known ?? (await getOne(docs, OUTAGES_ID))
    if (!before) {
      const fresh = newOutagesDoc(now)
      return (await docs.insert([fresh]))[0] === 'inserted' ? fresh : null
    }
    const outage = { from: before.working_until, until: now }
    const isOutage = known === null && outage.until - outage.from >= MIN_OUTAGE_MS
    const recent = before.outages.filter(({ until }) => until > now - SLOTS_RETENTION_MS)
    const set = { working_until: now, outages: isOutage ? [...recent, outage] : recent }
    return (await changeOne(docs, { _id: OUTAGES_ID, rev: before.rev, update: { $set: set } }))
      ? { ...before, ...set, rev: before.rev + 1 }
      : null
  }

  return {
    async find() {
      const now = clock.now()
      if (known !== null && now < known.working_until + LOOK_EVERY_MS) return known.outages
      const isWorking = await takesCalls()
      try {
        known = isWorking ? await save(now) : null
      } catch (error) {
        known = null
        throw error
      }
      return known?.outages ?? null
    },
    engineFailed() {
      known = null
    },
  }
}

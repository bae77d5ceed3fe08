// In which order the providers of a message are called. In: the providers that may send it, and the facts about their
// routes. Out: the same providers in order, and why the first comes first. The facts and the shares that follow from
// them are kept for a moment, so that a message costs no read and no arithmetic beyond its draw. Where the store does
// not answer soon, the listed order holds.
import { createHash } from 'node:crypto'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import { type Cache, createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { HOUR_MS, MINUTE_MS } from '../../infra/time.ts'
import { withTimeout } from '../../infra/timeout.ts'
import type { LearnedReason } from '../../machines/otp.ts'
import { pooledPrior } from '../../machines/routes.estimate.ts'
import { drawOrder, messagesIn, type RouteRule, type RouteShare, sharesOf } from '../../machines/routes.order.ts'
import type { RouteFact } from '../../machines/routes.ts'
import { costIn } from '../../machines/routing.ts'
import { factsNow, type RouteFactsDoc } from '../domain/routes/documents.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import { type Candidate, isChatReply, mayCall } from './candidates.ts'
import type { DeliveryJob } from './provider.ts'

export interface OrderedCandidates {
  candidates: readonly Candidate[]
  /** Null for the listed order. */
  because: LearnedReason | null
}

export type OrderCandidates = (job: DeliveryJob, candidates: readonly Candidate[]) => Promise<OrderedCandidates>

export interface RouteOrderDeps {
  facts: Pick<Docs<RouteFactsDoc>, 'get'>
  apps: Pick<Cache<TenantApp | null>, 'get'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/** With the two seconds in which the sweeper makes facts, and the five in which an OTP actor stores counts, a message
 *  is learned from soon. */
const FACTS_TTL_MS = 2_000
const MAX_APPS = 10_000
/** A message does not wait longer for its facts. */
const MAX_WAIT_MS = 250
/** While the store does not answer, facts that were read so long ago are better than none. */
const MAX_AGE_MS = 5 * MINUTE_MS

/** Evidence fades by 3 % in this time, which is when that of an app without messages is computed anew. */
const AGED_EVERY_MS = HOUR_MS

/** The facts of an app, and the shares that were computed from them. */
interface KnownFacts {
  doc: RouteFactsDoc
  readAt: number
  /** At `agedAt`. */
  facts: RouteFact[]
  agedAt: number
  /** By the list of providers, which is replaced when one of them has changed. */
  shares: WeakMap<readonly Candidate[], Map<string, KnownShares>>
}

/** For one kind of key in one country. */
interface KnownShares {
  rule: RouteRule
  usable: readonly Candidate[]
  shares: RouteShare[]
}

export function createRouteOrder({ facts, apps, clock, log }: RouteOrderDeps): OrderCandidates {
  const latest = createBoundedMap<KnownFacts>(MAX_APPS)
  const cache = createCache(load, { ttlMs: FACTS_TTL_MS, maxSize: MAX_APPS, clock })

  /** Null where there are none, and where the store does not answer: then it is asked again after a while. */
  async function load(app_id: string): Promise<KnownFacts | null> {
    const found = await withTimeout(clock, MAX_WAIT_MS, facts.get([app_id])).catch(error => {
      log.warn({ app_id, err: error }, 'routes.not_read')
      return undefined
    })
    const before = latest.get(app_id)
    const now = clock.now()
    // A slow store must not send messages back to a silent provider.
    if (found === undefined) return before && before.readAt > now - MAX_AGE_MS ? before : null
    const doc = found.get(app_id)
    if (!doc) return null
    const isCurrent = before?.doc.rev === doc.rev && now < before.agedAt + AGED_EVERY_MS
    const known: KnownFacts = isCurrent
      ? { ...before, readAt: now }
      : { doc, readAt: now, facts: factsNow(doc, now), agedAt: now, shares: new WeakMap() }
    latest.set(app_id, known)
    return known
  }

  function sharesFor(
    { facts, shares }: KnownFacts,
    rule: RouteRule,
    job: DeliveryJob,
    candidates: readonly Candidate[],
  ): KnownShares {
    const ofCandidates = shares.get(candidates) ?? new Map<string, KnownShares>()
    shares.set(candidates, ofCandidates)
    const { country } = job.otp.recipient
    const { kind } = job.otp.started_by
    const key = `${kind} ${country}`
    const known = ofCandidates.get(key)
    if (known?.rule === rule) return known
    const ofKind = facts.filter(fact => fact.kind === kind && fact.channel === job.delivery.channel)
    const here = ofKind.filter(fact => fact.country === country)
    const usable = candidates.filter(one => mayCall(one, job))
    const options = usable.map(({ name, cost_micros }, listed) => ({
      provider: name,
      fact: here.find(({ provider }) => provider === name) ?? null,
      cost_micros: costIn(cost_micros, country),
      listed,
    }))
    const prior = pooledPrior(ofKind, job.delivery.channel)
    const computed = { rule, usable, shares: sharesOf(options, rule, { prior, messages: messagesIn(here) }) }
    ofCandidates.set(key, computed)
    return computed
  }

  return async (job, candidates) => {
    const listed = { candidates, because: null }
    // In a chat the user has written to one of them.
    if (job.otp.mode === 'test' || candidates.length < 2 || isChatReply(job)) return listed
    const [known, app] = await Promise.all([cache.get(job.otp.app_id), apps.get(job.otp.app_id)])
    if (known === null || app === null) return listed
    const { usable, shares } = sharesFor(known, app.settings.routing, job, candidates)
    if (usable.length < 2) return listed
    const { order, because } = drawOrder(shares, randomOf(job.delivery.delivery_id))
    const ordered = order.flatMap(name => usable.find(one => one.name === name) ?? [])
    // Those that may not be called stay: they may have been called before.
    return { candidates: [...ordered, ...candidates.filter(one => !usable.includes(one))], because }
  }
}

/** Random numbers that are the same whenever the delivery is tried. There are eight, which is enough: the first ones decide. */
function randomOf(delivery_id: string): () => number {
  const bytes = createHash('sha256').update(delivery_id).digest()
  let drawn = 0
  return () => {
    drawn += 1
    return bytes.readUInt32LE(((drawn - 1) * 4) % bytes.length) / 2 ** 32
  }
}

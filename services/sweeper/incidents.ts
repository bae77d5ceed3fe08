// Incidents that owners and endpoints are told of. In: balances, endpoints, circuit breakers, facts about routes and
// retentions that become shorter, as the store has them. Out: a notice for each incident, which tell-notices.ts sends.
// An incident goes on until what was wrong has been right for a while, or by a margin, so that what goes to and fro is
// one incident.
//
// Nothing is recorded where an incident happens, so a send, a call or a breaker costs no more for it, and a process
// that dies loses none. An incident begins with one insert under a unique name. A process that was slow, or lost its
// lease, opens none where another process has opened one since it began to look.
import type { Clock } from '../../infra/clock.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { scanAll } from '../../infra/store/scan.ts'
import { DAY_MS, MINUTE_MS } from '../../infra/time.ts'
import { CHANNELS } from '../../machines/channels.ts'
import type { RouteKey } from '../../machines/routes.ts'
import { mayBeUsed } from '../../machines/routing.ts'
import type { OpsEventType } from '../../machines/webhook-events.ts'
import type { CountersignStore } from '../domain/collections.ts'
import {
  incidentName,
  incidentsOf,
  NOTICE_RETENTION_DAYS,
  type NoticeDoc,
  numberOf,
  wrongOf,
} from '../domain/notices/documents.ts'
import { findOwners } from '../domain/notices/owners.ts'
import { hasConsoleMail } from '../domain/tenancy/console-mail.ts'
import { isClosed } from '../domain/tenancy/documents.ts'
import { resolveSettings } from '../domain/tenancy/settings.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import { appIdOf, endpointId } from '../domain/webhooks/endpoint-ids.ts'
import { byOneProcess, type Sweep } from './sweep.ts'

export interface IncidentSweepDeps {
  store: CountersignStore
  tenancy: Pick<Tenancy, 'providersOf'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'info' | 'warn'>
  metrics: Pick<Metrics, 'silentRoutes'>
}

/** What is wrong now. */
interface Wrong extends Pick<NoticeDoc, 'subject' | 'countries' | 'retention'> {
  /** The id of the thing. */
  id: string
  /** The company, or else the app. */
  owner: { company_id: string } | { app_id: string }
}

interface Watch {
  type: OpsEventType
  /** The incident is over when nothing has been wrong for so long. */
  quietMs: number
  /** `ongoing`: the ids of things whose incident goes on. */
  find(ongoing: ReadonlySet<string>): Promise<Wrong[]>
}

const LOOK_EVERY_MS = 10_000
const QUIET_MS = 10 * MINUTE_MS
/** How often an incident that goes on is written. */
const SEEN_EVERY_MS = QUIET_MS / 2
/** A low balance is over when it is so much above its threshold. */
const ENOUGH = 1.2
/** An endpoint that was paused longer ago, and whose incident does not go on, was paused under a release without notices. */
const PAUSED_WITHIN_MS = DAY_MS
/** Owners are told of a shorter retention even where no sweeper ran until it was in force so long ago. */
const TOLD_LATE_MS = DAY_MS
/** More than go on at once. */
const MAX_FOUND = 10_000
/** Named in a notice. */
const MAX_COUNTRIES = 20

type SilentRoute = Pick<RouteKey, 'provider' | 'channel' | 'country'> & { app_id: string }

export function createIncidentSweeps({
  store,
  tenancy,
  clock,
  log,
  metrics,
}: IncidentSweepDeps): Record<string, Sweep> {
  const notices = store.docs('notices')

  const watches: Watch[] = [
    {
      type: 'ops.balance_low',
      quietMs: 0,
      async find(ongoing) {
        const found: Wrong[] = []
        for await (const company of scanAll(store.docs('companies'), { low_balance_watch: 1 })) {
          const { _id: id, balance, low_balance_micros = 0 } = company
          if (balance < low_balance_micros * (ongoing.has(id) ? ENOUGH : 1))
            found.push({ id, subject: id, owner: { company_id: id } })
        }
        return found
      },
    },
    {
      type: 'ops.endpoint_paused',
      quietMs: QUIET_MS,
      async find(ongoing) {
        const path = 'life.context.paused.at'
        const filter = { [path]: { $gt: clock.now() - PAUSED_WITHIN_MS } }
        const [known, recent] = await Promise.all([
          store.docs('webhooks').get([...ongoing]),
          store.docs('webhooks').find(filter, { sort: { [path]: 1 }, limit: MAX_FOUND }),
        ])
        return [...known.values(), ...recent]
          .filter(({ status, deleted_at, life }) => status === 'paused' && !deleted_at && !isPausedByPerson(life))
          .map(endpoint => ({
            id: endpoint._id,
            subject: endpointId(endpoint._id),
            owner: { app_id: appIdOf(endpoint) },
          }))
      },
    },
    {
      type: 'ops.provider_open',
      quietMs: QUIET_MS,
      async find() {
        const filter = { state: { $gt: 'closed' } }
        const found = await store.docs('breakers').find(filter, { sort: { state: 1 }, limit: MAX_FOUND })
        return found
          .filter(({ valid_until }) => valid_until > clock.now())
          .map(({ app_id, provider }) => ({ id: `${app_id}:${provider}`, subject: provider, owner: { app_id } }))
      },
    },
    {
      type: 'ops.provider_silent',
      quietMs: QUIET_MS,
      async find() {
        const silent = await findSilentRoutes()
        for (const channel of CHANNELS)
          metrics.silentRoutes.set({ channel }, silent.filter(route => route.channel === channel).length)
        // All countries of a provider are one incident: most often its vendor has one fault.
        const found = new Map<string, Wrong & { countries: string[] }>()
        for (const { app_id, provider, country } of silent) {
          const id = `${app_id}:${provider}`
          const countries = found.get(id)?.countries ?? []
          if (country !== null && !countries.includes(country)) countries.push(country)
          found.set(id, { id, subject: provider, owner: { app_id }, countries })
        }
        return [...found.values()]
      },
    },
    {
      type: 'ops.retention_shortened',
      quietMs: 0,
      async find() {
        const path = 'pending_retention.effective_at'
        const filter = { [path]: { $gt: clock.now() - TOLD_LATE_MS } }
        const apps = await store.docs('apps').find(filter, { sort: { [path]: 1 }, limit: MAX_FOUND })
        return apps.flatMap(({ _id, settings, pending_retention }): Wrong[] => {
          if (!pending_retention) return []
          const days_before = resolveSettings(settings).retention_days
          // Each that is asked for is an incident of its own.
          const id = `${_id}:${pending_retention.effective_at}`
          return [{ id, subject: _id, owner: { app_id: _id }, retention: { ...pending_retention, days_before } }]
        })
      },
    },
  ]

  async function findSilentRoutes(): Promise<SilentRoute[]> {
    const page = { sort: { silent: 1 }, limit: MAX_FOUND } as const
    const apps = await store.docs('route_facts').find({ silent: { $gt: 0 } }, page)
    const found: SilentRoute[] = []
    for (const { _id: app_id, facts } of apps) {
      const { providers } = await tenancy.providersOf(app_id)
      // A provider that is gone, paused or no longer for this country gets no messages, so it could not recover.
      const isUsed = (name: string, country: string | null): boolean =>
        providers.some(one => one.name === name && mayBeUsed(one, country))
      for (const { provider, channel, country, silence } of facts)
        if (silence.since !== null && isUsed(provider, country)) found.push({ app_id, provider, channel, country })
    }
    return found
  }

  async function look({ type, quietMs, find }: Watch): Promise<void> {
    const since = clock.now()
    const page = { sort: { open_since: 1 }, limit: MAX_FOUND } as const
    const ongoing = await notices.find({ type, open_since: { $gt: 0 } }, page)
    const idOf = (notice: NoticeDoc): string => wrongOf(notice).slice(type.length + 1)
    // One thing may be wrong in several processes.
    const wrong = new Map((await find(new Set(ongoing.map(idOf)))).map(one => [one.id, one]))
    const now = clock.now()
    for (const notice of ongoing) {
      const { _id, seen_at } = notice
      const isWrong = wrong.delete(idOf(notice))
      // The revision belongs to the process that tells of it.
      if (isWrong && now >= seen_at + SEEN_EVERY_MS)
        await notices.modify({ _id, seen_at }, { $set: { seen_at: now, purge_at: purgeAt(now) } })
      if (!isWrong && now >= seen_at + quietMs) await notices.modify({ _id, seen_at }, { $unset: { open_since: true } })
    }
    for (const one of wrong.values()) await open(type, one, since)
  }

  async function open(type: OpsEventType, wrong: Wrong, since: number): Promise<void> {
    const { id, subject, owner, countries = [], retention } = wrong
    const name = `${type}:${id}`
    const [last] = await notices.find(incidentsOf(name), { sort: { incident: -1 }, limit: 1 })
    if (last && (last.open_since !== undefined || last.at >= since)) return
    const app = 'app_id' in owner ? await getOne(store.docs('apps'), owner.app_id) : undefined
    const company_id = 'app_id' in owner ? (app?.company_id ?? '') : owner.company_id
    const company = await getOne(store.docs('companies'), company_id)
    // Neither vendors nor endpoints are called for a closed company, and its owners cannot act.
    if (!company || isClosed(company)) return
    const owners = (await hasConsoleMail(tenancy)) ? await findOwners(store, company_id) : []
    const now = clock.now()
    const [outcome] = await notices.insert([
      {
        _id: newId('ntc', now),
        incident: incidentName(name, last ? numberOf(last) + 1 : 1),
        type,
        company_id,
        ...(app ? { app_id: app._id } : {}),
        subject,
        ...(countries.length > 0 ? { countries: countries.toSorted().slice(0, MAX_COUNTRIES) } : {}),
        ...(retention && { retention }),
        at: now,
        seen_at: now,
        open_since: now,
        mails: owners.map(user => ({ user_id: user._id, mail_id: newId('dlv', now) })),
        tries: 0,
        due_at: now,
        purge_at: purgeAt(now),
        rev: 0,
      },
    ])
    if (outcome === 'inserted')
      log.warn({ type, company_id, ...(app ? { app_id: app._id } : {}), about: subject }, 'notice.opened')
  }

  function createSweep(watch: Watch): Sweep {
    let lookAt = 0
    return byOneProcess(async () => {
      if (clock.now() < lookAt) return 0
      lookAt = clock.now() + LOOK_EVERY_MS
      await look(watch)
      return 0
    })
  }

  return Object.fromEntries(watches.map(watch => [watch.type, createSweep(watch)]))
}

type Life = { context: { paused: { reason: string } | null } } | undefined

/** The person knows. */
const isPausedByPerson = (life: Life): boolean => life?.context.paused?.reason === 'operator'

const purgeAt = (now: number): Date => new Date(now + NOTICE_RETENTION_DAYS * DAY_MS)

// The toll-fraud guard. In: a text message that is about to be sent, and every change of a verification. Out: nothing against it, or a
// refusal, or another channel, as the app's setting has it; and a record with reasons of each it refused or moved, or would have.
import type { Cache } from '../../../infra/cache.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isKeyProblem } from '../../../infra/crypto/unopened.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Channel } from '../../../machines/channels.ts'
import { type Judgement, judge } from '../../../machines/fraud.ts'
import { magicOf } from '../../../machines/magic.ts'
import type { Otp } from '../../../machines/otp.ts'
import { counterKey } from '../../domain/verifications/counting.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/sealing.ts'
import type { KnownApp } from '../apps.ts'
import { bounded } from '../bounded.ts'
import type { Limits } from '../limits/limits.ts'
import type { Quota } from '../limits/quotas.ts'
import { limited } from '../refusals.ts'
import { NOTHING, type Reservation, reserve } from '../reserve.ts'
import type { FraudCounts } from './counts.ts'
import type { Decisions } from './decisions.ts'
import { type Places, placesOf } from './places.ts'
import { newsIn, watching } from './watch.ts'

/** A verification whose latest delivery is about to go. */
export interface Suspect {
  command_id: string
  otp: Otp
  /** In the clear. */
  recipient: string
  app: Pick<KnownApp, 'settings'>
  /** Where it could go instead, for nothing. */
  free: Channel | null
}

export interface Guarded extends Reservation {
  /** Where it goes instead. */
  moved?: Channel
}

export interface Guard {
  check(suspect: Suspect): Promise<Guarded>
  /** Whatever was saved; `before` is null for a new one. */
  changed(before: OtpDoc | null, after: OtpDoc): void
}

export interface GuardParts {
  keyring: Pick<Keyring, 'index' | 'unseal'>
  clock: { now(): number }
  log: Pick<Logger, 'warn'>
  limits: Limits
  apps: Pick<Cache<KnownApp | null>, 'get'>
  counts: Pick<FraudCounts, 'tallies' | 'blocks'>
  decisions: Pick<Decisions, 'keep'>
  metrics: Pick<Metrics, 'fraudDecisions'>
}

const PASSED: Guarded = NOTHING
const MOST_LATELY = 5_000
const REFUSED_MS = 600_000
const PACE_SECONDS = 600
const DAY_MS = 86_400_000

export function fraudGuard({ keyring, clock, log, limits, apps, counts, decisions, metrics }: GuardParts): Guard {
  const watch = watching(counts)

  // Looked at when it is about to be sent, and again a moment later when it was: opening and indexing it once will do.
  const lately = bounded<Places>(MOST_LATELY)
  const nameOf = ({ app_id, mode, recipient }: Otp): string => `${app_id}:${mode}:${recipient.index}`
  function placesFor(otp: Otp, number: string): Places {
    const { app_id, mode, recipient } = otp
    const places = placesOf(keyring, { app_id, mode }, { number, country: recipient.country, index: recipient.index })
    lately.set(nameOf(otp), places)
    return places
  }

  /** Slowed, it may still go, at the pace its reasons leave. */
  const held = (otp: Otp, places: Places, { verdict, reasons }: Judgement): Promise<Reservation> | Reservation =>
    verdict === 'refuse'
      ? { ...PASSED, refusal: limited('fraud_guard', REFUSED_MS) }
      : reserve(
          limits,
          reasons.map(reason => paceOf(otp, places, reason)),
        )

  async function check({ command_id, otp, recipient: number, app, free }: Suspect): Promise<Guarded> {
    const { mode, action } = app.settings.fraud_guard
    if (mode === 'off' || !isGuarded(otp, number)) return PASSED
    const places = lately.get(nameOf(otp)) ?? placesFor(otp, number)
    const judgement = judge(await watch.evidence(places), clock.now())
    const { verdict, score, reasons } = judgement
    if (verdict === 'pass') return PASSED
    const slowed = await held(otp, places, judgement)
    if (!slowed.refusal) return slowed
    const moved = action === 'free_channel' ? free : null
    const { otp_id, app_id, company_id, recipient } = otp
    const outcome = moved === null ? 'refused' : 'moved'
    metrics.fraudDecisions.inc({ mode: otp.mode, outcome, enforced: String(mode === 'on') })
    decisions.keep(`${otp_id}:${command_id}`, {
      ...{ app_id, company_id, mode: otp.mode, otp_id, verdict, score, reasons, channel: moved },
      ...{ enforced: mode === 'on', outcome },
      ...{ recipient: recipient.index, masked: recipient.masked, country: recipient.country },
      purge_at: new Date(clock.now() + app.settings.retention_days * DAY_MS),
    })
    if (mode === 'record') return PASSED
    return moved === null ? slowed : { ...PASSED, moved }
  }

  /** Null for one with a fixed fate. */
  function placesIn({ _id, mode, context }: OtpDoc): Places | null {
    const number = keyring.unseal(context.recipient.sealed, atRest.recipient(_id))
    return magicOf(mode, number) === null ? placesFor(context, number) : null
  }

  async function note(before: OtpDoc | null, after: OtpDoc): Promise<void> {
    const news = newsIn(before, after)
    if (!news) return
    const app = await apps.get(after.app_id)
    if (!app || app.settings.fraud_guard.mode === 'off') return
    const places = lately.get(nameOf(after.context)) ?? placesIn(after)
    if (!places) return
    if (news.sent) watch.sent(places, after.app_id, news.at)
    if (news.verified) watch.verified(places, after.app_id, news.at)
  }

  return {
    check,
    changed: (before, after) =>
      void note(before, after).catch(error => {
        // Whoever needs the key says that it is gone.
        if (!isKeyProblem(error)) log.warn({ err: error, otp_id: after._id }, 'fraud.not_counted')
      }),
  }
}

/** Text messages to numbers; those with a fixed fate are nobody's. */
const isGuarded = ({ mode, deliveries }: Otp, number: string): boolean =>
  deliveries.at(-1)?.channel === 'sms' && magicOf(mode, number) === null

function paceOf(otp: Otp, places: Places, { scope, pace }: Judgement['reasons'][number]): Quota {
  const { country, range, block, number } = places
  const name = { country: country.name, range: range.name, block, hundred: `${block}:${number.hundred}` }[scope]
  return {
    scope: 'fraud_guard',
    key: counterKey(otp, 'pace', scope, name),
    rules: pace === null ? [] : [{ max: pace, seconds: PACE_SECONDS }],
  }
}

// One world of a replay: the counters, verifications and guard that an app would have under its settings. In: past
// calls. Out: what the rules of live calls say of each; and the world after what is accepted.

import type { LimitScope } from './calls.ts'
import type { Channel, Priced } from './channels.ts'
import type { ErrorType } from './errors.ts'
import { isWatched } from './fraud.messages.ts'
import { rulesFrom, waitsOnLink } from './otp.changes.ts'
import { expiryAfterSend, isLapsed, MESSAGE_LIFE_MS } from './otp.code-life.ts'
import { sendsLeft } from './otp.queries.ts'
import type { KeyKind, Prices, Rules } from './otp.ts'
import { type CountedResend, type Quota, quotaOfMessage, quotaOfStart, quotasOfResend, quotasOfSend } from './quotas.ts'
import {
  type Accepted,
  isOnLink,
  isRefused,
  otpIdOf,
  type PastCall,
  type PastRecipient,
  type PastResend,
  type PastResult,
  type PastSend,
  type Refused,
} from './replay.calls.ts'
import { createGuardMemory, type GuardMemory, type PastDays } from './replay.guard.ts'
import { createSpending } from './replay.spending.ts'
import { fallbackChannel, isCoolingDown, type ResendState, resendTarget } from './resend.ts'
import {
  freeChannel,
  isGeoBlocked,
  type ProviderScope,
  refusedNumberKind,
  routeSend,
  type SendRoute,
  usableChannels,
} from './routing.ts'
import type { AppSettings, WhatsAppMode } from './settings.ts'
import { allowsOneMore, areOver, countOne, type Windows } from './windows.ts'

export interface WorldInput {
  /** By these the verifications were started that are played as they happened. */
  saved: AppSettings
  providers: readonly ProviderScope[]
  prices(country: string | null): Prices
  pastDays: PastDays
}

/** A verification in one of the worlds. */
interface SentOtp extends ResendState {
  start: PastSend
  /** The rules in the settings by which it was started. */
  rules: Rules
  sends: number
  first_sent_at: number
  last_sent_at: number
  expires_at: number
  /** Messages that the guard counted. */
  counted: number
  /** A message of the user on the link was answered with the code. */
  isAnswered: boolean
}

/** What a world's rules say of a call, and what they count if it is accepted. `result`: null for a fallback or an
 *  answer that would not be. */
export interface Judged {
  result: PastResult | null
  quotas: readonly Pick<Quota, 'key' | 'rules'>[]
}

/** What the guard says of a message. `paces`: what it counts in where it is only slowed down. */
interface Guarded {
  passes: boolean
  paces: readonly Pick<Quota, 'key' | 'rules'>[]
}

const UNGUARDED: Guarded = { passes: true, paces: [] }
const limited = (scope: LimitScope): Refused => ({ type: 'RateLimitExceededError', scope })
const refusedWith = (type: ErrorType, scope: LimitScope | null = null): Judged => ({
  result: { type, scope },
  quotas: [],
})
const APP_COUNTERS = { server: { key: 'app:server' }, publishable: { key: 'app:publishable' } }
const COUNTERS_WITHOUT_ADDRESS = { server: { key: 'no_ip:server' }, publishable: { key: 'no_ip:publishable' } }
const HOOKS_COUNTER = { key: 'hooks' }
/** Counters that are looked at with every call: more than calls add in the long run. */
const COUNTERS_LOOKED_AT = 8
const PUBLISHABLE_SEND_OFF = refusedWith('PublishableSendDisabledError')
const NOT_SENT: Judged = { result: null, quotas: [] }

export function createWorld(settings: AppSettings, { saved, providers, prices, pastDays }: WorldInput) {
  const { limits } = settings
  const own = createStarts(settings)
  const asItHappened = saved === settings ? own : createStarts(saved)
  const counters = new Map<string, Windows>()
  const spending = createSpending(settings.spend_caps)
  const verifications = new Map<string, SentOtp>()
  const guard: GuardMemory | null = settings.fraud_guard.mode === 'on' ? createGuardMemory(settings, pastDays) : null

  const windowsOf = (key: string): Windows => {
    const known = counters.get(key) ?? {}
    counters.set(key, known)
    return known
  }
  /** Every person and every address has counters, so those that count nothing any more are forgotten, a few at a time:
   *  to look at all of them would hold the event loop. */
  let walk = counters.entries()
  function forgetOldCounters(at: number): void {
    for (let looked = 0; looked < COUNTERS_LOOKED_AT; looked += 1) {
      const { value: entry } = walk.next()
      if (entry === undefined) {
        walk = counters.entries()
        return
      }
      const [key, windows] = entry
      if (areOver(windows, at)) counters.delete(key)
    }
  }
  const isFull = (quota: Pick<Quota, 'key' | 'rules'>, at: number): boolean =>
    !allowsOneMore(counters.get(quota.key) ?? {}, quota.rules, at)

  const sendQuotas = ({ kind, counter, address, circumstances }: PastSend, sendsMessage: boolean): Quota[] =>
    quotasOfSend({
      limits,
      kind,
      networks: address?.networks ?? null,
      suspect: circumstances.suspect === true,
      app: APP_COUNTERS[kind],
      recipient: counter,
      withoutAddress: COUNTERS_WITHOUT_ADDRESS[kind],
      hooks: HOOKS_COUNTER,
      fromLogin: circumstances.from_login === true,
      sendsMessage,
    })
  const resendQuotas = (
    { start }: SentOtp,
    { by, joins }: Pick<PastResend, 'by' | 'joins'>,
    sendsMessage: boolean,
  ): Quota[] => [
    ...(joins ? [quotaOfStart(start.counter, limits.recipient)] : []),
    ...(by === 'fallback' || by === 'answer' ? [] : quotasOfResend(countedResend(start, by))),
    ...(sendsMessage ? [quotaOfMessage(start.counter, limits)] : []),
  ]
  const countedResend = ({ address, circumstances }: PastSend, kind: KeyKind): CountedResend => ({
    limits,
    kind,
    networks: address?.networks ?? null,
    suspect: circumstances.suspect === true,
    app: APP_COUNTERS[kind],
  })

  function priceOf(channel: Channel, { country }: PastRecipient, call: PastCall): number {
    const { result } = call
    const priced: Priced = isAnswer(call) ? 'reply' : channel
    return (!isRefused(result) && result.channel === channel ? result.micros : null) ?? prices(country)[priced] ?? 0
  }

  /** Limits, guard and spend cap of a message, or of a link, which is only counted. */
  function judgeMessage(
    call: PastCall,
    start: PastSend,
    channel: Channel,
    {
      quotas,
      whatsapp,
      isFirst,
      free,
    }: {
      quotas: readonly Quota[]
      whatsapp: SentOtp['whatsapp']
      isFirst: boolean
      free: Channel | null
    },
  ): Judged {
    const { at } = call
    const { recipient } = start
    const full = quotas.find(quota => isFull(quota, at))
    if (full !== undefined) return { result: limited(full.scope), quotas: [] }
    const isLink = (one: Channel): boolean => !isAnswer(call) && waitsOnLink({ whatsapp }, one)
    const guarded = isLink(channel) ? UNGUARDED : askGuard(call, start, channel, { whatsapp, isFirst })
    const freeInstead = settings.fraud_guard.action === 'free_channel' && free !== channel ? free : null
    const to = guarded.passes ? channel : freeInstead
    if (to === null) return { result: limited('fraud_guard'), quotas: [] }
    const micros = isLink(to) ? null : priceOf(to, recipient, call)
    if (!spending.allows(recipient, micros ?? 0, at)) return { result: limited('spend_cap'), quotas: [] }
    return { result: { channel: to, micros }, quotas: [...quotas, ...guarded.paces] }
  }

  function askGuard(
    call: PastCall,
    start: PastSend,
    channel: Channel,
    { whatsapp, isFirst }: { whatsapp: WhatsAppMode; isFirst: boolean },
  ): Guarded {
    if (guard === null || !isWatchedIn(start, channel, whatsapp)) return UNGUARDED
    const { at } = call
    const recipient = guardedIn(start)
    const { hardest_challenge: ignoresHistory = false } = call.what === 'send' ? call.circumstances : call
    const judgement = guard.judge(recipient, { isFirst, ignoresHistory }, at)
    if (judgement.verdict === 'pass') return UNGUARDED
    const paces = guard.paces(recipient, judgement)
    const isSlowed = judgement.verdict === 'slow' && !paces.some(pace => isFull(pace, at))
    return isSlowed ? { passes: true, paces } : { passes: false, paces: [] }
  }

  /** What verifications are started with by some settings. */
  function createStarts(by: AppSettings) {
    const whatsapp = by.channels.whatsapp.mode
    const rules = rulesFrom(by)
    /** Most sends ask for nothing special, so few routes are made. */
    const routes = new Map<string, SendRoute & { free: Channel | null }>()
    return {
      whatsapp,
      rulesOf: ({ isMessage }: PastSend): Rules => (isMessage ? { ...rules, ttl_ms: MESSAGE_LIFE_MS } : rules),
      routeOf({ kind, recipient, circumstances, isMessage }: PastSend) {
        const { country, number_kind } = recipient
        const { channel, without_link, without_telegram, stopped = [] } = circumstances
        const name = `${kind} ${recipient.kind} ${number_kind} ${country} ${channel} ${without_link} ${without_telegram} ${stopped} ${isMessage}`
        const known = routes.get(name)
        if (known) return known
        const route = routeSend({
          settings: by,
          recipient: recipient.kind,
          number_kind,
          country,
          providers,
          whatsapp,
          caller: kind,
          asked: circumstances,
          isMessage,
          stopped,
          code_length: isMessage ? null : by.code.length,
        })
        const made = { ...route, free: freeChannel(route, prices(country), whatsapp) }
        routes.set(name, made)
        return made
      },
    }
  }

  function judgeSend(send: PastSend): Judged {
    const { kind, recipient, address } = send
    if (kind === 'publishable' && !settings.publishable_send) return PUBLISHABLE_SEND_OFF
    if (refusedNumberKind(settings, recipient.number_kind) !== null) return refusedWith('InvalidRecipientError')
    if (isGeoBlocked(settings, recipient)) return refusedWith('GeoBlockedError')
    const { channel, free } = own.routeOf(send)
    if (channel === undefined) return refusedWith('NoEnabledChannelError')
    if (address?.abusive) return refusedWith('IpReputationBlockedError')
    return judgeMessage(send, send, channel, {
      quotas: sendQuotas(send, !waitsOnLink(own, channel)),
      whatsapp: own.whatsapp,
      isFirst: true,
      free,
    })
  }

  const usableFor = ({ start, whatsapp }: SentOtp): Channel[] =>
    usableChannels({
      settings,
      recipient: start.recipient.kind,
      number_kind: start.recipient.number_kind,
      country: start.recipient.country,
      providers,
      whatsapp,
      caller: start.kind,
      stopped: start.circumstances.stopped ?? [],
      code_length: start.isMessage ? null : settings.code.length,
    })

  function judgeResend(resend: PastResend, otp: SentOtp): Judged {
    const { at, by, requested } = resend
    const { start } = otp
    const channel = judgeChannel()
    if (typeof channel !== 'string') return channel
    const sendsMessage = by === 'answer' || !waitsOnLink(otp, channel)
    if (sendsMessage && isGeoBlocked(settings, start.recipient)) return refusedWith('GeoBlockedError')
    return judgeMessage(resend, start, channel, {
      quotas: resendQuotas(otp, resend, sendsMessage),
      whatsapp: otp.whatsapp,
      isFirst: otp.counted === 0,
      free: null,
    })

    function judgeChannel(): Channel | Judged {
      if (by === 'answer') return mayBeAnswered(otp, at) ? 'whatsapp' : NOT_SENT
      if (by === 'fallback') return (mayFallBack(otp, resend) && fallbackChannel(otp, usableFor(otp))) || NOT_SENT
      if (by === 'publishable' && !settings.publishable_send) return PUBLISHABLE_SEND_OFF
      if (isLapsed(otp, at) || sendsLeft(otp) === 0) return refusedWith('ResendNotAllowedError')
      if (isCoolingDown(otp, at)) return refusedWith('ResendCooldownError', 'resend_cooldown')
      const target = resendTarget(otp, usableFor(otp), requested)
      if (target.kind === 'impossible') return refusedWith('ResendNotAllowedError')
      return target.kind === 'same_link' ? 'whatsapp' : target.channel
    }
  }

  /** What a call that happened counts in, also where the rules would refuse it. */
  function forcedQuotas(call: PastCall, accepted: Accepted): Judged['quotas'] {
    const sendsMessage = !isOnLink(accepted)
    if (call.what === 'send') {
      const whatsapp = call.whatsapp ?? asItHappened.whatsapp
      return [...sendQuotas(call, sendsMessage), ...pacesOf(call, whatsapp, true)]
    }
    const otp = verifications.get(call.otp_id)
    if (otp === undefined) return []
    return [...resendQuotas(otp, call, sendsMessage), ...pacesOf(otp.start, otp.whatsapp, otp.counted === 0)]

    /** What the guard does not let pass was moved to a free channel, and counts in no pace. */
    function pacesOf(start: PastSend, whatsapp: WhatsAppMode, isFirst: boolean): Guarded['paces'] {
      return sendsMessage ? askGuard(call, start, accepted.channel, { whatsapp, isFirst }).paces : []
    }
  }

  /** A message that is not sent as it was then would not fail as it did. */
  const isRefundedLater = ({ result }: PastCall, channel: Channel): boolean =>
    !isRefused(result) && result.refund !== undefined && result.channel === channel

  function countMessage(otp: SentOtp, channel: Channel, at: number): void {
    const { start } = otp
    if (start.isMessage || !isWatchedIn(start, channel, otp.whatsapp)) return
    guard?.sent(guardedIn(start), otp.counted === 0, at)
    otp.counted += 1
  }

  return {
    judge: (call: PastCall): Judged | null => {
      if (call.what === 'send') return judgeSend(call)
      const otp = verifications.get(call.otp_id)
      return otp === undefined ? null : judgeResend(call, otp)
    },

    /** `judgedQuotas`: none for a call that is played as it happened, also where the settings would not have it so. */
    accept(call: PastCall, accepted: Accepted, judgedQuotas?: Judged['quotas']): void {
      const { at } = call
      const { channel, micros } = accepted
      const quotas = judgedQuotas ?? forcedQuotas(call, accepted)
      const otp =
        call.what === 'send' ? startOtp(call, channel, judgedQuotas !== undefined) : verifications.get(call.otp_id)
      if (otp === undefined) return
      for (const { key, rules } of quotas) if (rules.length > 0) countOne(windowsOf(key), rules, at)
      forgetOldCounters(at)
      spending.count(call, otp.start.recipient, micros ?? 0, isRefundedLater(call, channel))
      const onLink = waitsOnLink(otp, channel)
      if (isAnswer(call) && onLink) answerOnLink(otp)
      else if (call.what === 'resend') moveOtp(otp, channel, at)
      if (!onLink) countMessage(otp, channel, at)
    },

    /** `approval`: null where it was not approved; with the time of the message that was verified, null where no message counts. */
    end(otp_id: string, approval: { sent_at: number | null } | null, at: number): void {
      const otp = verifications.get(otp_id)
      const sentAt = approval?.sent_at ?? null
      if (otp !== undefined && otp.counted > 0 && sentAt !== null) guard?.verified(guardedIn(otp.start), sentAt, at)
      verifications.delete(otp_id)
    },

    /** Whether its code would not be valid any more. */
    isExpired(otp_id: string, at: number): boolean {
      const otp = verifications.get(otp_id)
      return otp !== undefined && isLapsed(otp, at)
    },

    /** The mode of the link that it waits on; null where it waits on none. */
    linkOf(call: PastCall): WhatsAppMode | null {
      const otp = verifications.get(otpIdOf(call))
      return otp === undefined || otp.link === null ? null : otp.whatsapp
    },

    correctSpending: spending.correct,

    forget: (otp_id: string): void => void verifications.delete(otp_id),
  }

  function startOtp(send: PastSend, channel: Channel, isJudged: boolean): SentOtp {
    const starts = isJudged ? own : asItHappened
    const whatsapp = isJudged ? own.whatsapp : (send.whatsapp ?? asItHappened.whatsapp)
    const rules = starts.rulesOf(send)
    const { at } = send
    const otp: SentOtp = {
      start: send,
      rules,
      order: starts.routeOf(send).order,
      whatsapp,
      channel,
      tried: [channel],
      link: waitsOnLink({ whatsapp }, channel) ? send.id : null,
      sends: 1,
      first_sent_at: at,
      last_sent_at: at,
      expires_at: expiryAfterSend(rules.ttl_ms, at, at),
      counted: 0,
      isAnswered: false,
    }
    verifications.set(send.id, otp)
    return otp
  }

  /** The link has counted as a send, so its first answer does not. */
  function answerOnLink(otp: SentOtp): void {
    if (otp.isAnswered) otp.sends += 1
    otp.isAnswered = true
  }

  function moveOtp(otp: SentOtp, channel: Channel, at: number): void {
    otp.channel = channel
    if (!otp.tried.includes(channel)) otp.tried = [...otp.tried, channel]
    otp.link = waitsOnLink(otp, channel) ? otp.start.id : null
    otp.isAnswered = false
    otp.sends += 1
    otp.last_sent_at = at
    if (!otp.start.isMessage) otp.expires_at = expiryAfterSend(otp.rules.ttl_ms, otp.first_sent_at, at)
  }
}

const isAnswer = (call: PastCall): boolean => call.what === 'resend' && call.by === 'answer'

const mayBeAnswered = (otp: SentOtp, at: number): boolean =>
  otp.link !== null && otp.whatsapp === 'link_code' && !isLapsed(otp, at) && (!otp.isAnswered || sendsLeft(otp) > 0)

/** A message that has moved counts as one that arrives. */
const mayFallBack = (otp: SentOtp, { at, after }: PastResend): boolean =>
  otp.rules.auto_fallback && otp.channel === after && !isLapsed(otp, at) && sendsLeft(otp) > 0

const guardedIn = ({ kind, recipient: { mailbox: value, country } }: PastSend) => ({ kind, value, country })

const isWatchedIn = ({ kind }: PastSend, channel: Channel, whatsapp: WhatsAppMode): boolean =>
  isWatched({ channel }, { whatsapp, started_by: { kind } })

export type World = ReturnType<typeof createWorld>

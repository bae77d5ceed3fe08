// Plans a send: the checks that count nothing. In: the recipient, the app, the reputation of the client address. Out: the channel, or the
// refusal of the first check that fails: kind of number → country → channel → client address. Pure.
import type { Refusal } from '../../../machines/calls.ts'
import { type AskedRoute, CHANNELS, type Channel } from '../../../machines/channels.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import type { Magic } from '../../../machines/magic-recipients.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'
import {
  askedRoute,
  channelReason,
  firstUsable,
  isGeoBlocked,
  obstacle,
  refusedNumberKind,
  routeSend,
  type SendRoute,
  type SendRouteInput,
  usableChannels,
} from '../../../machines/routing.ts'
import {
  type CheckedRecipient,
  maskRecipient,
  type ParsedRecipient,
} from '../../domain/verifications/valid-recipient.ts'
import type { CachedApp } from '../apps.ts'
import type { Reputation } from '../limits/reputation.ts'
import {
  abusiveAddressRefusal,
  geoBlockedRefusal,
  limitRefusal,
  numberKindRefusal,
  recipientBlockedRefusal,
  refusal,
} from '../refusals.ts'

export interface SendRequest {
  recipient: CheckedRecipient
  mode: Mode
  caller: KeyKind
  app: CachedApp
  /** Null without a usable client address. */
  reputation: Reputation | null
  /** What the call says about channels; absent where it says nothing. */
  call?: AskedRoute
  /** The code that the caller made; null for a verification. */
  givenCode: string | null
  /** The channels on which the recipient asked for no more messages. */
  stopped: readonly Channel[]
}

export interface SendPlan extends Pick<SendRequest, 'givenCode' | 'stopped'>, SendRoute {
  asked: AskedRoute
  recipient: ParsedRecipient
  masked: string
  country: string | null
  /** A magic recipient is not limited per recipient. */
  magic: boolean
  /** The magic recipient for missing funds: the send is refused at the last step, as with a real balance. */
  insufficientFunds: boolean
  channel: Channel
  /** The recipient asked for no more messages on any channel that could be used, and a device asks: nothing is sent. */
  blocked: boolean
}

export function planSend(request: SendRequest): SendPlan | Refusal {
  const { mode, caller, app, reputation, givenCode, stopped } = request
  const { parsed: recipient, magic } = request.recipient
  const { country = null, numberKind = undefined } = recipient.kind === 'phone' ? recipient : {}
  const refusedKind = refusedNumberKind(app.settings, numberKind)
  if (refusedKind !== null) return numberKindRefusal(refusedKind)
  if (isGeoBlocked(app.settings, { kind: recipient.kind, country }) || isMagicRefusal(magic, 'GeoBlockedError'))
    return geoBlockedRefusal(country)

  const { settings } = app
  const asked = askedRoute(request.call ?? {}, givenCode)
  const withoutRules: SendRouteInput = {
    settings,
    recipient: recipient.kind,
    number_kind: numberKind,
    country,
    providers: app.providers(mode),
    whatsapp: settings.channels.whatsapp.mode,
    caller,
    asked,
    isMessage: givenCode !== null,
    code_length: givenCode === null ? settings.code.length : null,
  }
  const stoppedRouting: SendRouteInput = { ...withoutRules, stopped }
  // Whether only the recipient's own word is in the way. A device may be anyone's, and is not told what another person asked for.
  const isBlocked =
    stopped.length > 0 &&
    routeSend(stoppedRouting).channel === undefined &&
    routeSend(withoutRules).channel !== undefined
  if (isBlocked && caller === 'server') return recipientBlockedRefusal(channelsFor(stoppedRouting))
  const routing = isBlocked ? withoutRules : stoppedRouting
  const { order, usable, channel } = routeSend(routing)
  const unreadable = mode === 'test' ? [] : app.unreadable
  // A provider exists, but its data key is missing. The send must be retried when the key is back, so it is not refused.
  const unreadableProvider =
    channel === undefined &&
    unreadable.find(one => firstUsable(order, usableChannels({ ...routing, providers: [one] })) !== undefined)
  if (unreadableProvider) throw unreadableProvider.problem
  if (channel === undefined || isMagicRefusal(magic, 'NoEnabledChannelError')) return noChannelRefusal(order, routing)

  if (reputation === 'abusive' || isMagicRefusal(magic, 'IpReputationBlockedError')) return abusiveAddressRefusal()
  if (isMagicRefusal(magic, 'RateLimitExceededError'))
    return limitRefusal('recipient', MAGIC_RETRY_AFTER_MS, settings.limits.recipient[0])

  const masked = maskRecipient(recipient)
  const insufficientFunds = isMagicRefusal(magic, 'InsufficientFundsError')
  const isMagic = magic !== null
  return {
    recipient,
    masked,
    country,
    magic: isMagic,
    insufficientFunds,
    asked,
    order,
    usable,
    channel,
    givenCode,
    stopped,
    blocked: isBlocked,
  }
}

/** A server key is told what each channel lacks; a device is not, because it may be anyone's. */
const noChannelRefusal = (order: Channel[], routing: SendRouteInput): Refusal =>
  refusal(
    'NoEnabledChannelError',
    'No channel of the order is enabled, can reach the recipient and has a provider for it.',
    routing.caller === 'server' ? { channels: channelsFor(routing, order) } : {},
  )

const channelsFor = (routing: SendRouteInput, order = routeSend(routing).order) =>
  CHANNELS.map(channel => ({
    channel,
    // The magic recipient is refused although a channel may be usable.
    reason: channelReason(channel, order, obstacle(channel, routing)) ?? 'off',
  }))

const MAGIC_RETRY_AFTER_MS = 60_000

const isMagicRefusal = (magic: Magic | null, error: ErrorType): boolean =>
  magic !== null && 'refuses' in magic && magic.refuses === error

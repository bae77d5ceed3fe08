// Which limits apply to a send, a resend or a message, and in which order they refuse. In: the app's limits, the call, and the names of the
// counters it may count in. Out: quotas; if several are full, the first one refuses. Pure: a live call counts them in the store, and a
// replay of past calls in memory.
//
// A new limit also needs its rules in settings.ts, its scope in `LimitScope` (calls.ts) and, where it counts more than the app, its counter
// in services/domain/verifications/counter-names.ts. The type check then asks for the text of its refusal.
import type { LimitScope } from './calls.ts'
import type { KeyKind } from './otp.ts'
import type { AppSettings, LimitRule } from './settings.ts'
import type { WindowRule } from './windows.ts'

export interface Limit {
  /** The counter: of an app, of a recipient of an app, or of a client address of an app. */
  key: string
  /** Its keys under other data keys. While data keys rotate, the counts under them still hold. */
  formerKeys?: readonly string[]
  rules: readonly WindowRule[]
  /** The counter remembers when it was last counted under such a limit, and a grant tells it. */
  tellsLast?: true
}

export interface Quota extends Limit {
  scope: LimitScope
}

export type CounterName = Omit<Limit, 'rules' | 'tellsLast'>

/** A network of the client address, and how often the limit of one address fits into its limit. */
export interface NetworkName extends CounterName {
  limitFactor: number
}

export interface CountedResend {
  limits: AppSettings['limits']
  /** The kind of the API key that makes the call. */
  kind: KeyKind
  /** The networks of the client address, the smallest first; null without a usable address. */
  networks: readonly NetworkName[] | null
  /** The address is one of a VPN, proxy, Tor exit or datacenter. */
  suspect: boolean
  /** Publishable keys have a counter of their own: anyone can read such a key, and a flood of its calls must not stop the app's servers. */
  app: CounterName
}

export interface CountedSend extends CountedResend {
  /** Null for a magic recipient, which is not limited. */
  recipient: CounterName | null
  withoutAddress: CounterName
  /** Where sends without an address count that a login asks for: few logins know the address. */
  hooks: CounterName
  /** A login asks for it. */
  fromLogin?: boolean
  /** False when the caller gets a wa.me link and no message is sent. */
  sendsMessage: boolean
}

export function quotasOfSend(send: CountedSend): Quota[] {
  const { limits, kind, recipient, networks, withoutAddress, hooks, fromLogin, sendsMessage } = send
  const quotas: Quota[] = []
  if (recipient !== null) quotas.push({ ...quotaOfStart(recipient, limits.recipient), tellsLast: true })
  quotas.push(...quotasOfAddress(send))
  if (networks === null)
    quotas.push(
      fromLogin
        ? { scope: 'app_hooks', ...hooks, rules: limits.app_hooks }
        : { scope: 'app_without_client_ip', ...withoutAddress, rules: limits.app_without_client_ip },
    )
  if (networks !== null || kind === 'publishable') quotas.push(quotaOfApp(send))
  if (recipient !== null && sendsMessage) quotas.push(quotaOfMessage(recipient, limits))
  return quotas
}

/** A resend counts for the address of its send, and for the app, with or without an address: `app_without_client_ip` is for sends alone,
 *  which limit their resends. A message is counted by `quotaOfMessage` besides. */
export const quotasOfResend = (resend: CountedResend): Quota[] => [...quotasOfAddress(resend), quotaOfApp(resend)]

/** Counts sends. A send that joins a pending verification is counted too: each has an id, and each id has guesses. */
export const quotaOfStart = (recipient: CounterName, rules: readonly WindowRule[]): Quota => ({
  scope: 'recipient',
  ...recipient,
  rules,
})

/** Counts every message to the recipient, including resends, fallbacks and answers in the chat, in the counter of its sends. */
export const quotaOfMessage = (recipient: CounterName, limits: AppSettings['limits']): Quota => ({
  scope: 'recipient',
  ...recipient,
  rules: messageRules(limits),
})

const madeMessageRules = new WeakMap<AppSettings['limits'], readonly WindowRule[]>()

/** Made once for the limits of an app: a replay of past sends asks for them hundreds of thousands of times. */
function messageRules(limits: AppSettings['limits']): readonly WindowRule[] {
  const known = madeMessageRules.get(limits)
  if (known) return known
  const rules = limits.recipient_messages.map((rule): WindowRule => ({ ...rule, counts: 'messages' }))
  madeMessageRules.set(limits, rules)
  return rules
}

const quotaOfApp = ({ kind, limits, app }: CountedResend): Quota => ({
  scope: 'app',
  ...app,
  rules: rulesOfApp(limits, kind),
})

const rulesOfApp = (limits: AppSettings['limits'], kind: KeyKind): readonly LimitRule[] =>
  kind === 'publishable' ? limits.app_publishable : limits.app

/** One quota for an IPv4 address, one for each network of an IPv6 address. A suspect address has the same counters and gets a share of
 *  their limits. One address, or its /64, also has a share of the app's limit: a single client must not use it up for all. */
function quotasOfAddress({ limits, kind, networks, suspect }: CountedResend): Quota[] {
  const share = suspect ? limits.client_ip_reputation_factor : 1
  return (networks ?? []).map(({ limitFactor, ...name }, nth) => {
    const own = scaleRules(limits.client_ip, limitFactor * share)
    return {
      scope: suspect ? 'client_ip_reputation' : 'client_ip',
      ...name,
      rules: nth === 0 ? [...own, ...appShareRules(limits, kind)] : own,
    }
  })
}

/** How much of an app-wide limit one client address may take. */
const ADDRESS_SHARE_OF_APP = 0.25

const madeShareRules = {
  server: new WeakMap<AppSettings['limits'], readonly WindowRule[]>(),
  publishable: new WeakMap<AppSettings['limits'], readonly WindowRule[]>(),
}

/** Counted in the address's own counter, apart for the two kinds of key, as the app's limits are. At least one, or no one could send. */
function appShareRules(limits: AppSettings['limits'], kind: KeyKind): readonly WindowRule[] {
  const known = madeShareRules[kind].get(limits)
  if (known) return known
  const rules = rulesOfApp(limits, kind).map(
    ({ max, seconds }): WindowRule => ({
      max: Math.max(1, Math.floor(max * ADDRESS_SHARE_OF_APP)),
      seconds,
      counts: kind,
    }),
  )
  madeShareRules[kind].set(limits, rules)
  return rules
}

const scaleRules = (rules: readonly LimitRule[], factor: number): readonly LimitRule[] =>
  factor === 1 ? rules : rules.map(rule => ({ ...rule, max: Math.floor(rule.max * factor) }))

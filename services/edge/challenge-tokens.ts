// Checks the tokens that a vendor's widget has given to pages. In: the app, and a token as the caller brought it. Out:
// what the vendor says of it, for the OTP actor, which decides what follows. The vendor is called here and not by the
// actor: a call waits for a stranger then before it takes a place or a turn, and its budget begins afterwards.
import { createHash } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { networkOf } from '../../infra/ip-address.ts'
import { isJsonObject } from '../../infra/json-object.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import type { CheckedToken, WidgetVendor } from '../../machines/challenge.ts'
import { challengeSecretContext } from '../domain/tenancy/documents.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'

export interface TokenCheckDeps {
  outbound: Pick<Outbound, 'request'>
  keyring: Pick<Keyring, 'unseal'>
  clock: Pick<Clock, 'after'>
  log: Pick<Logger, 'warn'>
}

const VERIFY_URLS: Record<WidgetVendor, string> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
}

const VENDOR_TIMEOUT_MS = 3_000
/** How many checks of one app a process has under way. With more, a flood of made-up tokens would be calls of ours to the vendor. */
const MAX_CHECKS_AT_ONCE = 50
/** How many of them may be those of one network. Otherwise one machine could take all places with made-up tokens, and
 *  would be asked for a proof of work in place of the widget. */
const MAX_CHECKS_OF_A_NETWORK = 12
/** A caller with IPv6 can take any address of its /64. */
const COUNTED_NETWORK = { ipv4: 32, ipv6: 64 }

/** Errors that say nothing of the token: the vendor's own, and those of the app's settings, which must not shut its users out. */
const NOT_OF_THE_TOKEN =
  /^(internal-error|bad-request|missing-input-secret|invalid-input-secret|sitekey-secret-mismatch|missing-remoteip|invalid-remoteip|not-using-dummy-.*)$/

/** `address`: of the caller; null where it is not known. */
export type CheckToken = (
  app: TenantApp,
  vendor: WidgetVendor,
  token: string,
  address: string | null,
) => Promise<CheckedToken>

export function createCheckToken({ outbound, keyring, clock, log }: TokenCheckDeps): CheckToken {
  /** By app, and by app and network. */
  const underWay = new Map<string, number>()

  async function ask({ id, settings, sealed_challenge_secret }: TenantApp, vendor: WidgetVendor, token: string) {
    const { site_key, verify_url } = settings.challenge
    if (sealed_challenge_secret === null) throw new Error('the secret is missing')
    const secret = keyring.unseal(sealed_challenge_secret, challengeSecretContext(id))
    const aborting = new AbortController()
    const cancel = clock.after(VENDOR_TIMEOUT_MS, () => aborting.abort(new Error('no answer in time')))
    try {
      const { status, body } = await outbound.request({
        method: 'POST',
        url: verify_url ?? VERIFY_URLS[vendor],
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams({ secret, response: token, sitekey: site_key ?? '' }).toString(),
        signal: aborting.signal,
      })
      return verdictOf(status, Buffer.from(body).toString(), hostsOf(settings.allowed_origins))
    } finally {
      cancel()
    }
  }

  const begin = (key: string): number => {
    const others = underWay.get(key) ?? 0
    underWay.set(key, others + 1)
    return others
  }
  const end = (key: string): void => {
    const left = (underWay.get(key) ?? 1) - 1
    if (left === 0) underWay.delete(key)
    else underWay.set(key, left)
  }

  return async (app, vendor, token, address) => {
    const id = createHash('sha256').update(`${vendor}:${token}`).digest('base64url')
    const network = address === null ? null : `${app.id} ${networkOf(address, COUNTED_NETWORK)}`
    // The vendor was not asked, so the token is as good as before.
    if (network !== null && (underWay.get(network) ?? 0) >= MAX_CHECKS_OF_A_NETWORK) return { id, outcome: 'refused' }
    const keys = network === null ? [app.id] : [app.id, network]
    const [others = 0] = keys.map(begin)
    try {
      if (others >= MAX_CHECKS_AT_ONCE) throw new Error('too many checks at once')
      return { id, outcome: await ask(app, vendor, token) }
    } catch (error) {
      log.warn({ app_id: app.id, vendor, why: error instanceof Error ? error.message : '' }, 'challenge.unchecked')
      return { id, outcome: 'unchecked' }
    } finally {
      keys.forEach(end)
    }
  }
}

/** Throws where the answer says nothing of the token. */
function verdictOf(status: number, text: string, hosts: ReadonlySet<string>): CheckedToken['outcome'] {
  const answer = jsonIn(text)
  if (answer?.success === true)
    return typeof answer.hostname === 'string' && hosts.has(answer.hostname) ? 'passed' : 'other_host'
  const codes = [answer?.['error-codes'] ?? []].flat().map(String)
  if (answer?.success !== false || status >= 500 || codes.some(code => NOT_OF_THE_TOKEN.test(code)))
    throw new Error(`status ${status}${codes.length === 0 ? '' : `: ${codes.slice(0, 3).join(', ').slice(0, 100)}`}`)
  return 'refused'
}

function jsonIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

const hostsOf = (origins: readonly string[]): Set<string> => new Set(origins.map(origin => new URL(origin).hostname))

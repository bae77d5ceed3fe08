// In: a parsed body and the identity of its API key. Out: the call to the OTP actor, with everything secret or personal sealed.
// Whether a text is a valid recipient or code is for the actor to decide; only a refusal here that comes after that check makes it first.
import type { Context } from 'koa'
import type { z } from 'zod'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { clientAddressOf, type FindCaller } from '../../infra/http/caller-address.ts'
import { isId, newId } from '../../infra/ids.ts'
import { publicIpAddress } from '../../infra/ip-address.ts'
import { MINUTE_MS, SECOND_MS } from '../../infra/time.ts'
import type { CallOf, ContentClaim, Identity, KeyedClaim, OtpCall } from '../../machines/calls.ts'
import { MAX_TOKEN_LENGTH } from '../../machines/challenge.ts'
import { canonicalLocale } from '../../machines/locale.ts'
import type { SendText } from '../../machines/otp.ts'
import { problem, validationProblem } from '../domain/errors.ts'
import { idempotencyKeyContext, inFlight } from '../domain/verifications/encryption-context.ts'
import { idempotencyIndexes, type KeyOwner, messageIndexes } from '../domain/verifications/lookup-indexes.ts'
import { acceptRecipient, invalidRecipientDetail } from '../domain/verifications/valid-recipient.ts'
import { otpNotFound } from './answers.ts'
import {
  CLIENT_IP_NOT_PUBLIC,
  type cancelRequest,
  type exchangeRequest,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  type messageRequest,
  NOTICE_HEADER,
  type resendRequest,
  type sendRequest,
  type verifyRequest,
} from './schemas.requests.ts'

type Body<Schema extends z.ZodType> = z.output<Schema>

/** Far longer than any valid text. A longer one is cut, which keeps messages small and cannot make it valid. */
const MAX_RECIPIENT_LENGTH = 1_000
const MAX_LOCALE_LENGTH = 64

/** The same code to the same recipient is the same message for so long, where the caller brings no idempotency key that says otherwise. */
const SAME_MESSAGE_MS = MINUTE_MS
/** A login whose answer was lost calls again, and may have no key that it repeats. */
const SAME_MESSAGE_OF_LOGIN_MS = 10 * MINUTE_MS

/** Where a message comes from. */
export interface MessageSource {
  /** Empty without one. */
  idempotencyKey: string
  /** It is from a receiver of a login. */
  fromLogin?: {
    /** Which of the messages it is that the login asks for in one call. */
    nth: number
    /** The call is known at least so long. */
    min_life_ms: number
  }
}

export interface CallDeps {
  keyring: Pick<Keyring, 'seal' | 'indexes'>
  findCaller: FindCaller
  clock: Pick<Clock, 'now'>
}

export type Calls = ReturnType<typeof createCalls>

export function createCalls({ keyring, findCaller, clock }: CallDeps) {
  /** A backend declares the address of its user. A device could lie, so its connection's address is used. */
  const readClientIp = (body: Body<typeof sendRequest>, by: Identity, ctx: Context): string | null => {
    const declared = body.client_ip ?? null
    if (by.kind === 'server') return usableAddress(declared, ctx)
    if (declared !== null)
      throw validationProblem([{ path: 'client_ip', message: 'must not be sent with a publishable key' }])
    return clientAddressOf(findCaller(ctx))
  }

  const sealMetadata = ({ metadata }: Body<typeof sendRequest>, by: Identity): { sealed_metadata?: string } => {
    if ((metadata ?? null) === null) return {}
    if (by.kind === 'publishable')
      throw validationProblem([{ path: 'metadata', message: 'must not be sent with a publishable key' }])
    const json = JSON.stringify(metadata)
    return json === '{}' ? {} : { sealed_metadata: keyring.seal(json, inFlight.metadata) }
  }

  /** A device names the hash of its app; a page cannot choose the domain. */
  const sendText = (
    { app_hash, domain }: Pick<Body<typeof sendRequest>, 'app_hash' | 'domain'>,
    by: Identity,
    ctx: Context,
  ): Pick<CallOf<'otp.send'>, 'text' | 'origin_host'> => {
    if (by.kind === 'publishable' && (domain ?? null) !== null)
      throw validationProblem([{ path: 'domain', message: 'must not be sent with a publishable key' }])
    const text: SendText = {}
    if (app_hash) text.app_hash = app_hash
    if (domain) text.domain = domain
    const origin = by.kind === 'publishable' ? ctx.get('origin') : ''
    return {
      ...(Object.keys(text).length === 0 ? {} : { text }),
      ...(URL.canParse(origin) ? { origin_host: new URL(origin).hostname } : {}),
    }
  }

  /** What a call that makes a verification and one that makes a message have in common. */
  const sendCall = (
    prefix: 'otp' | 'msg',
    by: Identity,
    { recipient, locale }: Pick<Body<typeof messageRequest>, 'recipient' | 'locale'>,
    address: string | null,
    claim: KeyedClaim | null,
  ): CallOf<'otp.send'> => ({
    type: 'otp.send',
    by,
    otp_id: newId(prefix, clock.now()),
    sealed_recipient: keyring.seal(recipient.slice(0, MAX_RECIPIENT_LENGTH), inFlight.recipient),
    locale: localeOf(locale ?? ''),
    sealed_client_ip: address === null ? null : keyring.seal(address, inFlight.clientIp),
    claim,
  })

  /** A call that makes a message, from the body of a request or from a login. */
  function createMessage(
    { code, client_ip = null, expires_in_seconds, ...to }: Body<typeof messageRequest>,
    by: Identity,
    ctx: Context,
    { idempotencyKey, fromLogin }: MessageSource,
  ): OtpCall {
    const address = usableAddress(client_ip, ctx)
    refuseLongKey(idempotencyKey, to.recipient, by)
    const key = fromLogin && idempotencyKey !== '' ? `${idempotencyKey}:${fromLogin.nth}` : idempotencyKey
    const keyed = claimOf(keyring, { ...by, kind: 'message' }, key) ?? { ids: [] }
    const content: ContentClaim = {
      ids: messageIndexes(keyring, by, { recipient: to.recipient, code }).sort(),
      life_ms: fromLogin ? SAME_MESSAGE_OF_LOGIN_MS : SAME_MESSAGE_MS,
      ...(!fromLogin && keyed.ids.length > 0 && { keys: keyed.ids }),
    }
    return {
      ...sendCall('msg', by, to, address, {
        ...keyed,
        ...(fromLogin && { min_life_ms: fromLogin.min_life_ms }),
        content,
      }),
      sealed_code: keyring.seal(code, inFlight.code),
      ...(expires_in_seconds != null && { code_life_ms: expires_in_seconds * SECOND_MS }),
      ...(fromLogin && { from_login: true }),
    }
  }

  return {
    createMessage,
    send(
      body: Body<typeof sendRequest>,
      by: Identity,
      ctx: Context,
      idempotencyKey = ctx.get('idempotency-key'),
    ): OtpCall {
      const address = readClientIp(body, by, ctx)
      const metadata = sealMetadata(body, by)
      const text = sendText(body, by, ctx)
      refuseLongKey(idempotencyKey, body.recipient, by)
      return {
        ...sendCall('otp', by, body, address, claimOf(keyring, by, idempotencyKey)),
        ...metadata,
        ...text,
        ...challengeSolutionOf(by, ctx),
      }
    },
    message(body: Body<typeof messageRequest>, by: Identity, ctx: Context): OtpCall {
      return createMessage(body, by, ctx, { idempotencyKey: ctx.get('idempotency-key') })
    },
    resend: ({ otp_id, channel }: Body<typeof resendRequest>, by: Identity, ctx: Context): OtpCall => ({
      type: 'otp.resend',
      by,
      otp_id: requireOtpId(otp_id),
      channel: channel ?? null,
      ...challengeSolutionOf(by, ctx),
    }),
    verify: ({ otp_id, code }: Body<typeof verifyRequest>, by: Identity): OtpCall => ({
      type: 'otp.verify',
      by,
      otp_id: requireOtpId(otp_id),
      sealed_code: keyring.seal(code, inFlight.code),
    }),
    cancel: ({ otp_id }: Body<typeof cancelRequest>, by: Identity): OtpCall => ({
      type: 'otp.cancel',
      by,
      otp_id: requireOtpId(otp_id),
    }),
    exchange: ({ verification_token }: Body<typeof exchangeRequest>, by: Identity): OtpCall => ({
      type: 'token.exchange',
      by,
      sealed_token: keyring.seal(verification_token, inFlight.token),
    }),
  }
}

/** A caller that gives the address of its own proxy is told that it counts as none. */
function usableAddress(declared: string | null, ctx: Context): string | null {
  const address = declared === null ? null : publicIpAddress(declared)
  if (declared !== null && address === null) ctx.set(NOTICE_HEADER, CLIENT_IP_NOT_PUBLIC)
  return address
}

/** The recipient is checked before the key. */
function refuseLongKey(key: string, recipient: string, { mode }: Identity): void {
  if (key.length <= MAX_IDEMPOTENCY_KEY_LENGTH) return
  const text = recipient.slice(0, MAX_RECIPIENT_LENGTH)
  if (acceptRecipient(text, mode) === null)
    throw problem('InvalidRecipientError', { detail: invalidRecipientDetail(text) })
  throw problem('InvalidIdempotencyKeyError', {
    detail: `The idempotency key may have at most ${MAX_IDEMPOTENCY_KEY_LENGTH} characters.`,
  })
}

/** What the OTP actor claims for an idempotency key; null without one. A caller may make a key from a number or an
 *  address, so it is indexed and sealed here, and nothing after this sees it in the clear. */
export function claimOf(keyring: Pick<Keyring, 'seal' | 'indexes'>, by: KeyOwner, key: string): KeyedClaim | null {
  if (key === '') return null
  return {
    // Sorted, because edges with different current data keys must claim in the same order.
    ids: idempotencyIndexes(keyring, by, key).sort(),
    sealed_key: keyring.seal(key, idempotencyKeyContext(by)),
  }
}

/** Server keys are never asked for one. A text that is too long is neither a solution nor the token of a widget. */
function challengeSolutionOf({ kind }: Identity, ctx: Context): { challenge_solution?: string } {
  const text = kind === 'publishable' ? ctx.get('challenge-solution') : ''
  return text === '' || text.length > MAX_TOKEN_LENGTH ? {} : { challenge_solution: text }
}

/** A text that cannot be an id is refused without a call. */
function requireOtpId(otp_id: string): string {
  if (!isId('otp', otp_id)) throw otpNotFound()
  return otp_id
}

/** Null for a malformed tag: the message is then in the app's own language. */
const localeOf = (tag: string): string | null =>
  tag.length > MAX_LOCALE_LENGTH ? null : (canonicalLocale(tag) ?? null)

// Codes for signing in, sent and checked by Countersign itself: they are verifications of the console's app. In: an address that asks for a
// code, or an address with the code that came to it. Out: a message to the user, or the user. Limits, attempts and locks are those of
// every verification.
//
// A code goes to the address that is stored with the user, never to the text that was typed: two spellings may be equal here and lead
// to different mailboxes elsewhere.
import { randomUUID } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import type { Identity, OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import { statusAt } from '../../../machines/otp.queries.ts'
import type { Mode } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { problem } from '../../domain/errors.ts'
import type { Tenancy } from '../../domain/tenancy/tenancy.ts'
import { CONSOLE_APP_ID, CONSOLE_COMPANY_ID, CONSOLE_KEY_ID } from '../../domain/users/console.ts'
import { findUserByEmail, type UserDoc, userContext } from '../../domain/users/documents.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { recipientIndexes } from '../../domain/verifications/lookup-indexes.ts'

export interface SignInCodes {
  /** How codes are sent now: by email, or into the sandbox. Throws when they cannot be sent. */
  mode(): Promise<Mode>
  /** Sends a code if the address is a user's. */
  send(email: string, request: { mode: Mode; clientAddress: string | null; trace: Trace }): Promise<void>
  /** The user, if the code is right; otherwise null. A code is good once. */
  check(email: string, code: string, request: { mode: Mode; trace: Trace }): Promise<UserDoc | null>
}

export interface SignInCodeDeps {
  store: CountersignStore
  broker: Pick<Broker, 'request'>
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'indexes'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'info' | 'warn'>
  tenancy: Pick<Tenancy, 'providersOf'>
  production: boolean
}

/** Refusals after which a new code is sent. */
const NOT_RESENDABLE: ReadonlySet<ErrorType> = new Set(['ResendNotAllowedError', 'OtpNotFoundError'])
const CALL_TIMEOUT_MS = 5_000
/** Verifications of a user that are looked at; more than a user can have pending. */
const MAX_LATEST = 20

export function createSignInCodes(deps: SignInCodeDeps): SignInCodes {
  const { store, broker, keyring, clock, log, tenancy, production } = deps

  const call = async (trace: Trace, body: OtpCall): Promise<OtpAnswer> =>
    (await broker.request('otp.calls', { id: randomUUID(), body, trace }, CALL_TIMEOUT_MS)) as OtpAnswer

  const emailOf = ({ _id, sealed_email }: UserDoc): string => keyring.unseal(sealed_email, userContext.email(_id))

  /** The newest verification that the console has started for this address. */
  async function latestOtp(email: string, mode: Mode): Promise<OtpDoc | null> {
    const appMode = { app_id: CONSOLE_APP_ID, mode }
    const found = await store
      .docs('otps')
      .find(
        { ...appMode, recipient: { $in: recipientIndexes(keyring, appMode, email) } },
        { sort: { _id: -1 }, limit: MAX_LATEST },
      )
    return found.find(({ context }) => context.started_by.key_id === CONSOLE_KEY_ID) ?? null
  }

  /** A code that was not guessed at is sent again, so that every message holds the same code. */
  function canBeSentAgain(doc: OtpDoc): boolean {
    const { value, context } = toCurrentVersion(doc)
    return statusAt(value, context, clock.now()) === 'pending' && context.wrong_codes === 0
  }

  async function resend(doc: OtpDoc, mode: Mode, trace: Trace): Promise<OtpAnswer | null> {
    if (!canBeSentAgain(doc)) return null
    const answer = await call(trace, { type: 'otp.resend', by: identity(mode), otp_id: doc._id, channel: null })
    return answer.kind === 'refused' && NOT_RESENDABLE.has(answer.error) ? null : answer
  }

  const start = (email: string, mode: Mode, clientAddress: string | null, trace: Trace): Promise<OtpAnswer> =>
    call(trace, {
      type: 'otp.send',
      by: identity(mode),
      otp_id: newId('otp', clock.now()),
      sealed_recipient: keyring.seal(email, inFlight.recipient),
      locale: null,
      sealed_client_ip: clientAddress === null ? null : keyring.seal(clientAddress, inFlight.clientIp),
      claim: null,
    })

  return {
    async mode() {
      const { providers, unreadable } = await tenancy.providersOf(CONSOLE_APP_ID, 'email')
      if (providers.length + unreadable.length > 0) return 'live'
      if (!production) return 'test'
      throw problem('NoEnabledChannelError', {
        detail: `This deployment has no email provider, so it cannot send codes for signing in. An operator adds one to ${CONSOLE_APP_ID}.`,
      })
    },

    async send(email, { mode, clientAddress, trace }) {
      const user = await findUserByEmail(store, keyring, email)
      if (user === null) return
      const known = { ...requestOf({ trace }), user_id: user._id }
      const address = emailOf(user)
      const latest = await latestOtp(address, mode)
      const answer =
        (latest && (await resend(latest, mode, trace))) ?? (await start(address, mode, clientAddress, trace))
      if (answer.kind === 'verification')
        log.info({ ...known, otp_id: answer.verification.otp_id, mode }, 'sign_in.code_sent')
      else log.warn({ ...known, mode, why: whyNot(answer) }, 'sign_in.code_not_sent')
    },

    async check(email, code, { mode, trace }) {
      const user = await findUserByEmail(store, keyring, email)
      const latest = user && (await latestOtp(emailOf(user), mode))
      // A stranger's code is checked against no verification, so that the answer takes a call for everyone.
      const otp_id = latest?._id ?? newId('otp', clock.now())
      const answer = await call(trace, {
        type: 'otp.verify',
        // The key that approved may repeat its call. A code must be good once, so each check comes from a key of its own.
        by: identity(mode, `${CONSOLE_KEY_ID}:${randomUUID()}`),
        otp_id,
        sealed_code: keyring.seal(code, inFlight.code),
      })
      if (answer.kind === 'refused' && answer.error === 'ServiceUnavailableError')
        throw problem('ServiceUnavailableError', { detail: 'The code cannot be checked now. Try again.' })
      if (answer.kind === 'broken') throw new Error('the OTP actor did not answer this call')
      return answer.kind === 'verified' && answer.matched ? user : null
    },
  }
}

const identity = (mode: Mode, key_id = CONSOLE_KEY_ID): Identity => ({
  key_id,
  kind: 'server',
  mode,
  app_id: CONSOLE_APP_ID,
  company_id: CONSOLE_COMPANY_ID,
})

const whyNot = (answer: OtpAnswer): string => (answer.kind === 'refused' ? answer.error : answer.kind)

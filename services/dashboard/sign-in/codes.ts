// Codes for signing in, sent and checked by Countersign itself: they are verifications of the console's app. In: a browser that asks for a
// code to an address, or brings the code that came to it. Out: a message to the user, or the user.
//
// A code is good in the browser that asked for it, and nowhere else: guesses and requests of other browsers neither use it up nor replace
// it. The attempts and the cooldown are those of its verification; how many mails a user gets is in mail-limit.ts; requests and guesses
// are also counted by the address they come from, here and among the limits of the console's app.
//
// A code goes to the address that is stored with the user, never to the text that was typed: two spellings may be equal here and lead
// to different mailboxes elsewhere.
import { randomUUID } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import type { Identity, OtpAnswer } from '../../../machines/calls.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import { statusAt } from '../../../machines/otp.code-life.ts'
import type { Mode } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { problem } from '../../domain/errors.ts'
import { CONSOLE_APP_ID, CONSOLE_COMPANY_ID, CONSOLE_KEY_ID } from '../../domain/tenancy/console.ts'
import { hasConsoleMail } from '../../domain/tenancy/console-mail.ts'
import type { Tenancy } from '../../domain/tenancy/tenancy.ts'
import { type UserDoc, userContext } from '../../domain/users/documents.ts'
import type { People } from '../../domain/users/people.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { requestOtp } from '../../domain/verifications/queue-messages.ts'
import type { Browsers, SignInFlow } from './browsers.ts'
import type { MailLimit } from './mail-limit.ts'

export interface SignInCodes {
  /** How codes are sent now: by email, or into the sandbox. Throws when they cannot be sent. */
  mode(): Promise<Mode>
  /** Sends a code if the address is a user's, or is invited. */
  send(email: string, request: CodeRequest): Promise<void>
  /** The users of the person, if the code is right in this browser; otherwise none. A code is good once. */
  check(email: string, code: string, request: CodeCheck): Promise<UserDoc[]>
}

export interface CodeCheck {
  mode: Mode
  trace: Trace
  /** The token of the browser's flow cookie. */
  flowToken: string
}

export interface CodeRequest extends CodeCheck {
  clientAddress: string | null
  /** The token of the browser's device cookie; null if it has none. */
  deviceToken: string | null
}

export interface SignInCodeDeps {
  store: CountersignStore
  broker: Pick<Broker, 'request'>
  browsers: Pick<Browsers, 'flow' | 'known'>
  mailLimit: MailLimit
  people: Pick<People, 'withAddress'>
  keyring: Pick<Keyring, 'seal' | 'unseal'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'info' | 'warn'>
  tenancy: Pick<Tenancy, 'providersOf'>
  production: boolean
}

/** How codes are sent, as callers are told. */
export const SENT_BY = { live: 'email', test: 'sandbox' } as const

/** Refusals after which a new code is sent. */
const NOT_RESENDABLE: ReadonlySet<ErrorType> = new Set(['ResendNotAllowedError', 'OtpNotFoundError'])

export function createSignInCodes(deps: SignInCodeDeps): SignInCodes {
  const { store, broker, browsers, mailLimit, people, keyring, clock, log, tenancy, production } = deps

  const emailOf = ({ _id, sealed_email }: UserDoc): string => keyring.unseal(sealed_email, userContext.email(_id))

  /** A code that was not guessed at is sent again, so that every message holds the same code. */
  function canBeSentAgain(doc: OtpDoc): boolean {
    const { value, context } = toCurrentVersion(doc)
    return statusAt(value, context, clock.now()) === 'pending' && context.wrong_codes === 0
  }

  /** Null when a new code is needed. */
  async function sendAgain(flow: SignInFlow, mode: Mode, trace: Trace): Promise<OtpAnswer | null> {
    const found = await flow.find()
    if (found === null || found.mode !== mode) return null
    const doc = await getOne(store.docs('otps'), found.otp_id)
    if (doc === undefined || !canBeSentAgain(doc)) return null
    const answer = await requestOtp(
      broker,
      { type: 'otp.resend', by: identity(mode), otp_id: doc._id, channel: null },
      trace,
    )
    return answer.kind === 'refused' && NOT_RESENDABLE.has(answer.error) ? null : answer
  }

  async function sendNew(flow: SignInFlow, email: string, request: CodeRequest): Promise<OtpAnswer> {
    const { mode, clientAddress, trace } = request
    const former = await flow.find()
    const otp_id = newId('otp', clock.now())
    // Saved before the message leaves, so that its code is good when it arrives.
    await flow.save({ otp_id, mode })
    const answer = await requestOtp(
      broker,
      {
        type: 'otp.send',
        by: identity(mode),
        otp_id,
        sealed_recipient: keyring.seal(email, inFlight.recipient),
        locale: null,
        sealed_client_ip: clientAddress === null ? null : keyring.seal(clientAddress, inFlight.clientIp),
        claim: null,
      },
      trace,
    )
    // No new code was sent, so the former one stays good.
    if (answer.kind === 'refused' && former !== null) await flow.save(former)
    return answer
  }

  return {
    async mode() {
      if (await hasConsoleMail(tenancy)) return 'live'
      if (!production) return 'test'
      throw problem('NoEnabledChannelError', {
        detail: `This deployment has no email provider that is not paused, so it cannot send codes for signing in. An operator adds or resumes one in ${CONSOLE_APP_ID}.`,
      })
    },

    async send(email, request) {
      const { mode, trace, flowToken, deviceToken } = request
      // One of the person's users stands for all: a company that invites the person adds neither mails nor sign-ins under way.
      const [user] = await people.withAddress(email)
      if (user === undefined) return
      const known = { ...requestOf({ trace }), user_id: user._id }
      const knownBrowser = deviceToken && (await browsers.known(deviceToken, user._id))
      const mail = await mailLimit.take(emailOf(user), knownBrowser)
      if (mail === null) return log.warn({ ...known, mode, why: 'too many mails in an hour' }, 'sign_in.code_not_sent')
      const flow = browsers.flow(flowToken, user._id)
      const answer = (await sendAgain(flow, mode, trace)) ?? (await sendNew(flow, emailOf(user), request))
      if (answer.kind === 'verification')
        return log.info({ ...known, otp_id: answer.verification.otp_id, mode }, 'sign_in.code_sent')
      await mail.giveBack()
      log.warn({ ...known, mode, why: whyNot(answer) }, 'sign_in.code_not_sent')
    },

    async check(email, code, { mode, trace, flowToken }) {
      const users = await people.withAddress(email)
      const [user] = users
      const flow = user && browsers.flow(flowToken, user._id)
      const found = (await flow?.find()) ?? null
      // The code of a stranger, or of another browser, is checked against no verification, so that the answer takes a call for everyone.
      const otp_id = found?.otp_id ?? newId('otp', clock.now())
      const answer = await requestOtp(
        broker,
        {
          type: 'otp.verify',
          // The key that approved may repeat its call. A code must be good once, so each check comes from a key of its own.
          by: identity(found?.mode ?? mode, `${CONSOLE_KEY_ID}:${randomUUID()}`),
          otp_id,
          sealed_code: keyring.seal(code, inFlight.code),
        },
        trace,
      )
      if (answer.kind === 'refused' && answer.error === 'ServiceUnavailableError')
        throw problem('ServiceUnavailableError', { detail: 'The code cannot be checked now. Try again.' })
      if (answer.kind === 'broken') throw new Error('the OTP actor did not answer this call')
      if (answer.kind !== 'verified' || !answer.matched || found === null) return []
      await flow?.end()
      return users
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

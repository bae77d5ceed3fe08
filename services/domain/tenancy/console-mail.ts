// A mail of the console to one of its users that holds no code, such as word of a new browser. In: the mail. Out: whether a provider of the
// console's app took it. It is sealed in the call that goes to the processes of the email channel.
import { randomUUID } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isJsonObject } from '../../../infra/json-object.ts'
import { type Trace, withTrace } from '../../../infra/trace.ts'
import { CONSOLE_APP_ID } from './console.ts'
import { channelCallQueue } from './provider-test.ts'
import type { Tenancy } from './tenancy.ts'

export interface ConsoleMail {
  /** Has the form of a delivery's id. A mail that may be sent again, because it is not known whether it was sent, has
   *  the same one each time: its Message-ID is made of it, and mailboxes drop or fold what comes twice. Absent: a new
   *  one. */
  id?: string
  recipient: string
  subject: string
  /** Plain text. */
  text: string
}

export interface ConsoleMailCall {
  type: 'console.mail'
  /** A ConsoleMail in JSON. */
  sealed_mail: string
}

/** `not_understood`: the process has another version. */
export type ConsoleMailAnswer = { kind: 'sent' | 'not_sent' | 'not_understood' }

const CONTEXT = 'console_mail'

const consoleMailCall = (keyring: Pick<Keyring, 'seal'>, mail: ConsoleMail): ConsoleMailCall => ({
  type: 'console.mail',
  sealed_mail: keyring.seal(JSON.stringify(mail), CONTEXT),
})

export const isConsoleMailCall = (body: unknown): body is ConsoleMailCall =>
  isJsonObject(body) && body.type === 'console.mail'

/** Throws `Unsealable`. */
export const mailOf = (keyring: Pick<Keyring, 'unseal'>, { sealed_mail }: ConsoleMailCall): ConsoleMail =>
  JSON.parse(keyring.unseal(sealed_mail, CONTEXT)) as ConsoleMail

/** Sends a mail and answers whether a provider took it. Rejects when it cannot be known. */
export type SendConsoleMail = (mail: ConsoleMail, trace?: Trace) => Promise<ConsoleMailAnswer['kind']>

/** For the way to the channel's process and back; a second provider may be asked. */
const BEYOND_VENDOR_MS = 10_000

export const createConsoleMails =
  (deps: {
    broker: Pick<Broker, 'request'>
    keyring: Pick<Keyring, 'seal'>
    /** How long a call to a vendor may take. */
    vendorTimeoutMs: number
  }): SendConsoleMail =>
  async (mail, trace) => {
    const message = { id: randomUUID(), body: consoleMailCall(deps.keyring, mail), ...withTrace(trace) }
    const budgetMs = deps.vendorTimeoutMs + BEYOND_VENDOR_MS
    return ((await deps.broker.request(channelCallQueue('email'), message, budgetMs)) as ConsoleMailAnswer).kind
  }

/** Whether this deployment has an email provider that is not paused. A config that cannot be read now counts: other
 *  processes may read it. */
export async function hasConsoleMail(tenancy: Pick<Tenancy, 'providersOf'>): Promise<boolean> {
  const { providers, unreadable } = await tenancy.providersOf(CONSOLE_APP_ID, 'email')
  return [...providers, ...unreadable].some(({ paused }) => !paused)
}

// A mail of the console to one of its users that holds no code, such as word of a new browser. In: the call that the dashboard sends to the
// processes of the email channel. Out: whether a provider of the console's app took it. The mail is sealed in the call.
import type { Keyring } from '../../../infra/crypto/keyring.ts'

export interface ConsoleMail {
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

export const consoleMailCall = (keyring: Pick<Keyring, 'seal'>, mail: ConsoleMail): ConsoleMailCall => ({
  type: 'console.mail',
  sealed_mail: keyring.seal(JSON.stringify(mail), CONTEXT),
})

export const isConsoleMailCall = (body: unknown): body is ConsoleMailCall =>
  typeof body === 'object' && body !== null && 'type' in body && body.type === 'console.mail'

/** Throws `Unsealable`. */
export const mailOf = (keyring: Pick<Keyring, 'unseal'>, { sealed_mail }: ConsoleMailCall): ConsoleMail =>
  JSON.parse(keyring.unseal(sealed_mail, CONTEXT)) as ConsoleMail

// What a receiver declares of its login: how the login proves who it is, what its body says, and what it is told. hooks.ts serves every
// receiver of receivers.ts in one way.
import type { z } from 'zod'
import type { Problem } from '../../../infra/http/problem.ts'
import type { SignedLogin } from '../../domain/tenancy/documents.ts'

/** What a login wants to be delivered. */
export interface LoginMessage {
  recipient: string
  code: string
  client_ip?: string
  /** How long the code is good for; absent where the login does not tell, or tells what `POST /messages` would not take. */
  expires_in_seconds?: number
}

export interface LoginCall {
  /** What the login repeats when it calls again for the same; absent where it has no such thing. */
  id?: string
  messages: LoginMessage[]
  /** The login's name of a notice, which carries no code. */
  notice?: string
}

export interface Receiver {
  /** `server_key`: an API key of the app. `signedBy`: Standard Webhooks, with one of the secrets that the app has of
   *  this login, which decides the mode. */
  authentication: 'server_key' | { signedBy: SignedLogin }
  body: z.ZodType<LoginCall>
  /** When the login does not wait any longer and its code is dead. Nothing is sent after that. */
  waitsMs?: number
  /** What the login is told. `words` are for its user, in the user's language as far as that is known. */
  refuse(problem: Problem, words: string): Problem | { status: number; body: object }
}

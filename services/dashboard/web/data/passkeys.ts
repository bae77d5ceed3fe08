// Asks the browser for a passkey. In: the options of the API. Out: what its owner's authenticator answered, or a
// `Problem` in words for people.

import type { Schemas } from '../api/client.ts'
import { Problem } from '../api/problem.ts'

/** Loaded when it is used: most pages need it never. */
const load = () => import('@simplewebauthn/browser')

export async function createPasskey(optionsJSON: Schemas['PasskeyCreationOptions']) {
  const { startRegistration } = await load()
  const credential = await startRegistration({ optionsJSON: optionsJSON as never }).catch(refused)
  return credential as unknown as Schemas['PasskeyAttestation']
}

export async function askForPasskey(optionsJSON: Schemas['PasskeyRequestOptions']) {
  const { startAuthentication } = await load()
  const credential = await startAuthentication({ optionsJSON: optionsJSON as never }).catch(refused)
  return credential as unknown as Schemas['PasskeyAssertion']
}

const WORDS: Readonly<Record<string, string>> = {
  InvalidStateError: 'This device has a passkey of yours already.',
  NotAllowedError: 'No passkey was used. It was canceled, took too long, or there is none on this device.',
}

function refused(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  throw new Problem(0, { detail: WORDS[name] ?? 'The browser could not use a passkey.' })
}

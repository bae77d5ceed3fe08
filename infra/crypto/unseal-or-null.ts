// For what must go on without a text whose key is gone: a provider, a secret, one of many.
import { type Keyring, Unsealable } from './keyring.ts'

/** Null when it does not open. */
export function unsealOrNull(keyring: Pick<Keyring, 'unseal'>, sealed: string, context: string): string | null {
  try {
    return keyring.unseal(sealed, context)
  } catch (error) {
    if (error instanceof Unsealable) return null
    throw error
  }
}

// Unseals a text that the caller can do without, for example one secret of many.
import { type Keyring, Unsealable } from './keyring.ts'

/** Null when the text is unsealable. */
export function unsealOrNull(keyring: Pick<Keyring, 'unseal'>, sealed: string, context: string): string | null {
  try {
    return keyring.unseal(sealed, context)
  } catch (error) {
    if (error instanceof Unsealable) return null
    throw error
  }
}

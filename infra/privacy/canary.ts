// A text sealed with the data key in use, kept in the store. In: the keys a process was started with. Out: whether they open it. With a
// wrong or missing key everything would start and look well, and nothing that is stored would open.
import { type Keyring, Unsealable } from '../crypto/keyring.ts'
import type { CountersignStore } from '../store/collections.ts'
import type { Doc } from '../store/docs.ts'

export interface CanaryDoc extends Doc {
  sealed: string
}

const ID = 'data_keys'
const CONTEXT = 'canary'
const TEXT = 'still alive'

/** False when the keys are not those of this store. Where they are, it is sealed with the current one from now on. */
export async function keysFit(
  store: Pick<CountersignStore, 'docs'>,
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'isCurrent'>,
): Promise<boolean> {
  const canaries = store.docs('canaries')
  const found = (await canaries.get([ID])).get(ID)
  if (found && !opens(keyring, found.sealed)) return false
  if (!found || !keyring.isCurrent(found.sealed))
    await canaries.modify({ _id: ID }, { $set: { sealed: keyring.seal(TEXT, CONTEXT) } }, { upsert: true })
  return true
}

function opens(keyring: Pick<Keyring, 'unseal'>, sealed: string): boolean {
  try {
    return keyring.unseal(sealed, CONTEXT) === TEXT
  } catch (error) {
    if (error instanceof Unsealable) return false
    throw error
  }
}

// A text sealed with the data key in use, kept in the store. In: the keys a process was started with. Out: nothing, or why it must not
// start. With a wrong or missing key everything would start and look well: nothing that is stored would open, and what is stored from
// then on, only for processes as wrong as this one.
import { type Keyring, Unsealable } from '../../../infra/crypto/keyring.ts'
import { keyIdOf } from '../../../infra/crypto/seal.ts'
import { StartProblem } from '../../../infra/start-problem.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { PrivacyStore } from './documents.ts'

export interface CanaryParts {
  store: PrivacyStore
  keyring: Pick<Keyring, 'keyIds' | 'seal' | 'unseal' | 'isCurrent'>
  /** Ids of keys that are given up for lost. */
  lost?: readonly string[]
  /** Where the keys come from, when not from DATA_KEYS. */
  source?: string | null
}

const ID = 'data_keys'
const CONTEXT = 'canary'
const TEXT = 'still alive'
/** Others write it only when they start. */
const MOST_TRIES = 20

/** Rejects with `StartProblem` when the keys are not those of this store. Where they are, it is sealed with the current one from now on. */
export async function checkKeys({ store, keyring, lost = [], source = null }: CanaryParts): Promise<void> {
  const canaries = store.docs('canaries')
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const sealed = keyring.seal(TEXT, CONTEXT)
    const found = (await canaries.get([ID])).get(ID)
    // Of several that start on an empty store with keys of their own, the first decides whose store it is.
    if (!found) {
      if ((await canaries.insert([{ _id: ID, sealed }]))[0] === 'inserted') return
      continue
    }
    const sealedBy = keyIdOf(found.sealed)
    const opens = isOpenedBy(keyring, found.sealed)
    if (!opens && !lost.includes(sealedBy)) throw misfit(keyring.keyIds, sealedBy, source)
    if (opens && keyring.isCurrent(found.sealed)) return
    if (await canaries.modify({ _id: ID, sealed: found.sealed }, { $set: { sealed } })) return
  }
  throw new Unavailable('too many processes start at once')
}

function isOpenedBy(keyring: Pick<Keyring, 'unseal'>, sealed: string): boolean {
  try {
    return keyring.unseal(sealed, CONTEXT) === TEXT
  } catch (error) {
    if (error instanceof Unsealable) return false
    throw error
  }
}

/** Ids are no secrets: every sealed text begins with one. */
function misfit(given: readonly string[], sealedBy: string, source: string | null): StartProblem {
  const kept = `what is stored was sealed with the key "${sealedBy}"`
  const sameName = given.includes(sealedBy)
  const here = source === null ? '' : ` DATA_KEYS is not set: the keys come from ${source}.`
  const wrong = sameName
    ? `${kept}, and the key given under this id is another.${here} Give the right one.`
    : `${kept}, which is not among those given (${given.join(', ')}).${here} Add it: the first key seals, all of them open.`
  const rename = sameName ? 'give the new key another id and ' : ''
  return new StartProblem(
    `DATA_KEYS: ${wrong} If it is lost for good, so is what it sealed: ${rename}set LOST_DATA_KEYS=${sealedBy} to start without it`,
  )
}

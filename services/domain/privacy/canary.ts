// A text sealed with the data key in use, kept in the store with the format of the store. In: the keys a process was started with. Out:
// nothing, or why it must not start. With a wrong or missing key a process would start and look healthy, but could open nothing that is
// stored, and what it stores itself would open only with the same wrong keys.
import { type Keyring, Unsealable } from '../../../infra/crypto/keyring.ts'
import { keyIdOf } from '../../../infra/crypto/seal.ts'
import { StartProblem } from '../../../infra/start-problem.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import type { PrivacyStore } from './documents.ts'

export interface CanaryDeps {
  store: PrivacyStore
  keyring: Pick<Keyring, 'keyIds' | 'seal' | 'unseal' | 'isCurrent'>
  /** Ids of keys that the operator has given up for lost. */
  lostKeyIds?: readonly string[]
  /** Where the keys come from; null for DATA_KEYS. */
  source?: string | null
  place: StorePlace
}

/** Where the store is, for an operator. */
export interface StorePlace {
  /** The variable that names it. */
  setting: 'DATA_DIR' | 'MONGODB_URL'
  /** The folder that may be deleted to start over: that of a development system. Null where real data may be. */
  deletable: string | null
}

const CANARY_ID = 'data_keys'
const CANARY_CONTEXT = 'canary'
const CANARY_TEXT = 'still alive'
/** Raised when stored documents change in a way that this release cannot read. */
const STORE_FORMAT = 2

/** Rejects with `StartProblem` when another release wrote this store, or the keys are not those of this store. Otherwise seals the canary
 *  with the current key. */
export async function checkKeys(deps: CanaryDeps): Promise<void> {
  const { store, keyring, lostKeyIds = [], source = null, place } = deps
  const canaries = store.docs('canaries')
  await retryAfterLostRace('the canary', async () => {
    const sealed = keyring.seal(CANARY_TEXT, CANARY_CONTEXT)
    const found = await getOne(canaries, CANARY_ID)
    // Of several processes that start on an empty store with different keys, the first to insert decides.
    if (!found) {
      const [inserted] = await canaries.insert([{ _id: CANARY_ID, sealed, format: STORE_FORMAT }])
      return inserted === 'inserted' ? undefined : LOST
    }
    if (found.format !== STORE_FORMAT) throw otherFormatProblem(place)
    const sealedBy = keyIdOf(found.sealed)
    const opens = isOpenedBy(keyring, found.sealed)
    if (!opens && !lostKeyIds.includes(sealedBy)) throw wrongKeysProblem(keyring.keyIds, sealedBy, source, place)
    if (opens && keyring.isCurrent(found.sealed)) return
    return (await canaries.modify({ _id: CANARY_ID, sealed: found.sealed }, { $set: { sealed } })) ? undefined : LOST
  })
}

function isOpenedBy(keyring: Pick<Keyring, 'unseal'>, sealed: string): boolean {
  try {
    return keyring.unseal(sealed, CANARY_CONTEXT) === CANARY_TEXT
  } catch (error) {
    if (error instanceof Unsealable) return false
    throw error
  }
}

function otherFormatProblem({ setting, deletable }: StorePlace): StartProblem {
  const another = setting === 'DATA_DIR' ? 'set DATA_DIR to an empty folder' : 'name another database in MONGODB_URL'
  const remedy = deletable === null ? `Start that release again, or ${another}` : startOver(deletable)
  return new StartProblem(
    `${setting}: another release has written this store, in a format that this one cannot read. ${remedy}`,
  )
}

const startOver = (folder: string): string => `Delete the data folder to start over: ${folder}`

/** Key ids are not secret: every sealed text begins with one. */
function wrongKeysProblem(
  keyIds: readonly string[],
  sealedBy: string,
  source: string | null,
  { deletable }: StorePlace,
): StartProblem {
  const storedWith = `what is stored was sealed with the key "${sealedBy}"`
  const sameName = keyIds.includes(sealedBy)
  const sourceNote = source === null ? '' : ` DATA_KEYS is not set: the keys come from ${source}.`
  const problem = sameName
    ? `${storedWith}, and the key given under this id is another.${sourceNote} Give the right one.`
    : `${storedWith}, which is not among those given (${keyIds.join(', ')}).${sourceNote} Add it: the first key seals, all of them open.`
  const newIdHint = sameName ? 'give the new key another id and ' : ''
  return new StartProblem(
    `DATA_KEYS: ${problem} If it is lost for good, so is what it sealed: ${newIdHint}set LOST_DATA_KEYS=${sealedBy} to start without it${deletable === null ? '' : `. ${startOver(deletable)}`}`,
  )
}

// Seals the persons of refused sends again with the current data key. In: a batch of refusals. Out: how many were renewed, and how many do
// not open. Their recipients are known by it, so they are indexed again too. Nothing else changes a refusal, so it has no revision: one
// that was erased meanwhile stays away.
import { type Keyring, Unsealable } from '../../infra/crypto/keyring.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { type RefusalDoc, type RefusedPerson, refusedPersonContext } from '../domain/refusals/documents.ts'
import { recipientIndexes } from '../domain/verifications/lookup-indexes.ts'
import type { ResealKeyring } from './resealed-fields.ts'

export interface ResealRefusalDeps {
  refusals: Pick<Docs<RefusalDoc>, 'modify'>
  keyring: ResealKeyring & Pick<Keyring, 'indexes'>
}

export const createResealRefusals =
  ({ refusals, keyring }: ResealRefusalDeps) =>
  async (batch: readonly RefusalDoc[]): Promise<{ renewed: number; unsealable: number }> => {
    const counted = { renewed: 0, unsealable: 0 }
    await Promise.all(batch.map(reseal))
    return counted

    async function reseal({ _id, app_id, mode, recipient, judged }: RefusalDoc): Promise<void> {
      const sealed = judged?.sealed
      if (sealed === undefined || keyring.isCurrent(sealed)) return
      try {
        const text = keyring.unseal(sealed, refusedPersonContext(_id))
        const person: RefusedPerson = JSON.parse(text)
        const [index, ...former] = recipientIndexes(keyring, { app_id, mode }, person.recipient)
        const isIndexed = recipient !== undefined && former.includes(recipient)
        await refusals.modify(
          { _id, 'judged.sealed': sealed },
          {
            $set: {
              'judged.sealed': keyring.seal(text, refusedPersonContext(_id)),
              ...(isIndexed ? { recipient: index } : {}),
            },
          },
        )
        counted.renewed += 1
      } catch (error) {
        if (!(error instanceof Unsealable)) throw error
        counted.unsealable += 1
      }
    }
  }

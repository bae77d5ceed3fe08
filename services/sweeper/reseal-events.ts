// Seals what endpoints answered again with the current data key. In: a batch of events. Out: how many were renewed, and how many have an
// answer that does not open. An answer that was erased meanwhile stays away.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { replaceAnswers } from '../domain/privacy/event-answers.ts'
import { type EventDoc, eventAnswerContext } from '../domain/webhooks/documents.ts'
import { createResealText } from './resealed-fields.ts'

export interface ResealEventsDeps {
  events: Pick<Docs<EventDoc>, 'update'>
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'isCurrent'>
}

export const createResealEvents =
  ({ events, keyring }: ResealEventsDeps) =>
  async (batch: readonly EventDoc[]): Promise<{ renewed: number; unsealable: number }> => {
    const found = batch.map(({ _id, attempts }) => {
      const fields = { unsealable: false }
      const resealText = createResealText(keyring, fields)
      const renewed = attempts.flatMap(({ sealed_response }): [string, string][] => {
        const resealed = resealText(sealed_response, eventAnswerContext(_id))
        return sealed_response === null || resealed === null ? [] : [[sealed_response, resealed.sealed]]
      })
      return { _id, renewed: new Map(renewed), ...fields }
    })
    const due = found.filter(({ renewed }) => renewed.size > 0)
    await events.update(due.map(({ _id, renewed }) => ({ ids: [_id], update: replaceAnswers(renewed) })))
    return { renewed: due.length, unsealable: found.filter(({ unsealable }) => unsealable).length }
  }

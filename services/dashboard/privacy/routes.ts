// The rotation of DATA_KEYS, and the erasure of a recipient. The audit log keeps a fingerprint: an operator who knows the recipient can
// prove the erasure, and no other reader of the log learns the recipient.

import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { ROTATION_ID, type RotationDoc } from '../../domain/privacy/documents.ts'
import { sumCounts } from '../../domain/privacy/erasure.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { recipientFilter, recipientFingerprint, recipientText, recipientToErase } from '../recipients.ts'
import { createEraseRecipient, ZERO_COUNTS } from './erase-recipient.ts'
import { erasure, privacy, type RotationAnswer } from './schemas.ts'

const eraseBody = {
  schema: z
    .strictObject({ recipient: recipientText })
    .meta({ id: 'EraseRecipientRequest', description: 'The recipient to erase.' }),
  example: { recipient: SAMPLE_NUMBER },
}

const erased = ok(erasure, 'How many of each were erased.', {
  verifications: 3,
  ended: 1,
  attempts: 4,
  messages: 0,
  events: 2,
  counters: 5,
  refusals: 0,
  decisions: 0,
  idempotency_keys: 1,
  blocks: 0,
})

export const privacyOperations = [
  operation({
    id: 'eraseRecipient',
    route: 'POST /apps/{id}/erase',
    role: 'developer',
    allowedWhenClosed: true,
    stepUp: true,
    summary: 'Erase a recipient',
    description: 'All data of one recipient in an app, in both modes. Safe to repeat.',
    body: eraseBody,
    answers: [erased],
    keep: createEraseRecipient,
    handle: async ({ ctx, app, body }, { store, keyring, withAudit }, eraseRecipient) => {
      const { _id: app_id, company_id } = app
      const recipient = recipientToErase(body.recipient)
      return withAudit(ctx, async () => ({
        action: 'recipient.erase',
        target: app_id,
        company_id,
        before: { verifications: await store.docs('otps').count(recipientFilter(keyring, app_id, recipient)) },
        after: { recipient: recipientFingerprint(keyring, app_id, recipient) },
        perform: () => eraseRecipient(app_id, recipient),
      }))
    },
  }),
  operation({
    id: 'eraseRecipientInCompany',
    route: 'POST /companies/{id}/erase',
    role: 'developer',
    allowedWhenClosed: true,
    stepUp: true,
    summary: 'Erase a recipient from all apps',
    description:
      'All data of one recipient in every app of the company, in both modes. One that was interrupted is completed by repeating it.',
    body: eraseBody,
    answers: [erased],
    keep: createEraseRecipient,
    handle: async ({ ctx, company: { _id: company_id }, body }, { store, keyring, withAudit }, eraseRecipient) => {
      const recipient = recipientToErase(body.recipient)
      const appIds: string[] = []
      for await (const { _id } of scanAll(store.docs('apps'), { company_id })) appIds.push(_id)
      const count = (app_id: string) => store.docs('otps').count(recipientFilter(keyring, app_id, recipient))
      return withAudit(ctx, async () => {
        let verifications = 0
        for (const app_id of appIds) verifications += await count(app_id)
        return {
          action: 'recipient.erase',
          target: company_id,
          company_id,
          before: { apps: appIds.length, verifications },
          after: { recipient: recipientFingerprint(keyring, company_id, recipient) },
          perform: async () => {
            let counts = ZERO_COUNTS
            for (const app_id of appIds) counts = sumCounts(counts, await eraseRecipient(app_id, recipient))
            return counts
          },
        }
      })
    },
  }),
  operation({
    id: 'getPrivacyState',
    route: 'GET /privacy',
    role: 'operator',
    summary: 'Look the data keys up',
    description: 'The ids of the data keys, and the progress of their rotation.',
    answers: [ok(privacy, 'The data keys.', { data_keys: ['k1'], rotation: null })],
    handle: async (_, { store, keyring }) => {
      const rotation = await getOne(store.docs('rotations'), ROTATION_ID)
      return { data_keys: [...keyring.keyIds], rotation: rotationView(keyring, rotation) }
    },
  }),
]

/** A rotation to another key than the current one says nothing about the current one. */
function rotationView({ keyIds }: Pick<Keyring, 'keyIds'>, rotation: RotationDoc | undefined): RotationAnswer | null {
  if (!rotation || rotation.keys[0] !== keyIds[0]) return keyIds.length > 1 ? { state: 'waiting' } : null
  const { state, pass, looked, renewed, unsealable, renewed_in_all, started_at, pass_started_at, done_at } = rotation
  return {
    state,
    current: rotation.keys[0],
    pass,
    looked,
    renewed,
    unsealable,
    renewed_in_all,
    started_at: isoTime(started_at),
    pass_started_at: isoTime(pass_started_at),
    done_at: isoTimeOrNull(done_at),
  }
}

// The rotation of DATA_KEYS, and the erasure of a recipient. The audit log keeps a fingerprint: an operator who knows the recipient can
// prove the erasure, and no other reader of the log learns the recipient.

import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { ROTATION_ID, type RotationDoc } from '../../domain/privacy/documents.ts'
import { recipientKey } from '../../domain/verifications/lookup-indexes.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { recipientFilter, recipientToErase } from '../recipients.ts'
import { createEraseRecipient } from './erase-recipient.ts'
import { erasure, privacy, type RotationAnswer } from './schemas.ts'

export const privacyOperations = [
  operation({
    id: 'eraseRecipient',
    route: 'POST /apps/{id}/erase',
    role: 'developer',
    allowedWhenClosed: true,
    summary: 'Erase a recipient',
    description: 'All data of one recipient in an app, in both modes. Safe to repeat.',
    body: {
      schema: z
        .strictObject({ recipient: z.string().min(1).max(512) })
        .meta({ id: 'EraseRecipientRequest', description: 'The recipient to erase.' }),
      example: { recipient: SAMPLE_NUMBER },
    },
    answers: [
      ok(erasure, 'How many of each were erased.', {
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
      }),
    ],
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
    id: 'getPrivacyState',
    route: 'GET /privacy',
    role: 'operator',
    summary: 'Look the data keys up',
    description: 'The ids of the data keys, and the progress of their rotation.',
    answers: [ok(privacy, 'The data keys.', { data_keys: ['k1'], rotation: null })],
    handle: async (_, { store, keyring }) => {
      const rotation = (await store.docs('rotations').get([ROTATION_ID])).get(ROTATION_ID)
      return { data_keys: [...keyring.keyIds], rotation: rotationView(keyring, rotation) }
    },
  }),
]

/** In a scope of its own, so that it equals no index in the store. */
const recipientFingerprint = (keyring: Pick<Keyring, 'index'>, app_id: string, recipient: string): string =>
  keyring.index(`erased recipient:${app_id}`, recipientKey(recipient)).slice(0, 16)

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

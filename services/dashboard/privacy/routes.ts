// GET /privacy: the progress of the rotation of DATA_KEYS. When it is `done`, all keys but the current one can be removed.
// POST /apps/{id}/erase: erases a recipient. The audit log keeps a fingerprint: an operator who knows the recipient can prove the erasure,
// and no other reader of the log learns the recipient.
import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { ROTATION_ID, type RotationDoc } from '../../domain/privacy/documents.ts'
import { recipientKey } from '../../domain/verifications/lookup-indexes.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { recipientFilter, recipientToErase } from '../recipients.ts'
import { getOr404 } from '../request-input.ts'
import { createEraseRecipient } from './erase-recipient.ts'
import type { RotationAnswer } from './schemas.ts'

export const eraseBody = z.strictObject({ recipient: z.string().min(1).max(512) })

export const addPrivacyRoutes: AddRoutes = (router, { store, keyring, clock, accounts, readBody, withAudit }) => {
  const eraseRecipient = createEraseRecipient({ store, keyring, clock, accounts })

  router.get('/privacy', async ctx => {
    const rotation = (await store.docs('rotations').get([ROTATION_ID])).get(ROTATION_ID)
    ctx.body = { data_keys: keyring.keyIds, rotation: rotationView(keyring, rotation) }
  })

  router.post('/apps/:id/erase', async ctx => {
    const { _id: app_id, company_id } = await getOr404(ctx, store.docs('apps'), ctx.params.id, 'app')
    const recipient = recipientToErase((await readBody(ctx, eraseBody)).recipient)
    ctx.body = await withAudit(ctx, async () => ({
      action: 'recipient.erase',
      target: app_id,
      company_id,
      before: { verifications: await store.docs('otps').count(recipientFilter(keyring, app_id, recipient)) },
      after: { recipient: recipientFingerprint(keyring, app_id, recipient) },
      perform: () => eraseRecipient(app_id, recipient),
    }))
  })
}

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

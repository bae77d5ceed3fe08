// GET /privacy: how far the rotation of DATA_KEYS is. When it says `done`, keys other than the current one can go.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { ROTATION_ID, type RotationDoc } from '../../domain/privacy/documents.ts'
import { type AddRoutes, isoTime, isoTimeOrNull } from '../admin-deps.ts'

export const addPrivacyRoutes: AddRoutes = (router, { store, keyring }) => {
  router.get('/privacy', async ctx => {
    const rotation = (await store.docs('rotations').get([ROTATION_ID])).get(ROTATION_ID)
    ctx.body = { data_keys: keyring.keyIds, rotation: rotationView(keyring, rotation) }
  })
}

/** Another's, for another key, says nothing of this one's. */
function rotationView({ keyIds }: Pick<Keyring, 'keyIds'>, rotation: RotationDoc | undefined) {
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

// GET /privacy: how far the rotation of DATA_KEYS is. When it says `done`, keys other than the current one can go.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { ROTATION, type RotationDoc } from '../../domain/privacy/documents.ts'
import { type Resource, time, timeOrNull } from '../admin.ts'

export const privacy: Resource = (router, { store, keyring }) => {
  router.get('/privacy', async ctx => {
    const rotation = (await store.docs('rotations').get([ROTATION])).get(ROTATION)
    ctx.body = { data_keys: keyring.keyIds, rotation: shown(keyring, rotation) }
  })
}

/** Another's, for another key, says nothing of this one's. */
function shown({ keyIds }: Pick<Keyring, 'keyIds'>, rotation: RotationDoc | undefined) {
  if (!rotation || rotation.keys[0] !== keyIds[0]) return keyIds.length > 1 ? { state: 'waiting' } : null
  const { state, pass, looked, renewed, unsealable, renewed_in_all, started_at, pass_started_at, done_at } = rotation
  return {
    ...{ state, current: rotation.keys[0], pass, looked, renewed, unsealable, renewed_in_all },
    started_at: time(started_at),
    pass_started_at: time(pass_started_at),
    done_at: timeOrNull(done_at),
  }
}

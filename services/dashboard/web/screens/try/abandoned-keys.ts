// Which of the keys that this screen has made are no longer used. In: the keys of an app, and which of them this browser has made. Out: those
// to revoke. Another tab's key stays as long as it was made or used within a day; a page whose key is revoked nevertheless makes a new one.
import { DAY_MS } from '../../../../../infra/time.ts'
import type { components } from '../../api/schema.ts'

type ApiKey = components['schemas']['ApiKey']

/** The name of every key that the screen makes. A person may use it too, and a key that was renamed is in other use. */
export const TRY_IT_KEY_NAME = 'Try it'

const ABANDONED_AFTER_MS = DAY_MS

export const findAbandonedKeys = (keys: readonly ApiKey[], isOwn: (id: string) => boolean, now: number): ApiKey[] =>
  keys.filter(
    ({ id, name, mode, revoked_at, created_at, last_used_at }) =>
      isOwn(id) &&
      name === TRY_IT_KEY_NAME &&
      mode === 'test' &&
      revoked_at === null &&
      Math.max(Date.parse(created_at), Date.parse(last_used_at ?? created_at)) < now - ABANDONED_AFTER_MS,
  )

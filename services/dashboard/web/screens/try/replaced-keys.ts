// Which of the keys that this screen has made a new one replaces. In: the keys of an app, the new one, and which of them this browser has
// made. Out: those to revoke. A page that still holds one of them asks for the new one when its own is refused.
import type { Schemas } from '../../api/schema.ts'

type ApiKey = Schemas['ApiKey']

/** The name of every key that the screen makes. A person may use it too, and a key that was renamed is in other use. */
export const TRY_IT_KEY_NAME = 'Try it'

export const findReplacedKeys = (
  keys: readonly ApiKey[],
  made: Pick<ApiKey, 'id' | 'kind'>,
  isOwn: (id: string) => boolean,
): ApiKey[] =>
  keys.filter(
    ({ id, kind, name, mode, revoked_at }) =>
      id !== made.id &&
      kind === made.kind &&
      isOwn(id) &&
      name === TRY_IT_KEY_NAME &&
      mode === 'test' &&
      revoked_at === null,
  )

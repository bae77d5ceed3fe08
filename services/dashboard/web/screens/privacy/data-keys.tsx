// The keys that seal personal data at rest, and how far their rotation is. For operators.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Reading } from '../../ui/reading.tsx'
import { Time } from '../../ui/time.tsx'
import { isRotating, rotationSentence } from './rotation-words.ts'

/** A rotation takes minutes to hours. */
const ASK_EVERY_MS = 5_000

export function DataKeys() {
  const query = useQuery('privacy', call => bodyOf(api.GET('/admin/v1/privacy', call)), {
    everyMs: ASK_EVERY_MS,
  })
  return (
    <Card title="Data keys" lead="They seal numbers, addresses and secrets at rest, in the whole deployment.">
      <Reading of={query} what="the data keys" />
      {query.data && <Keys state={query.data} />}
    </Card>
  )
}

function Keys({ state }: { state: Schemas['PrivacyState'] }) {
  const { data_keys, rotation } = state
  return (
    <>
      <ul class="privacy-keys">
        {data_keys.map((id, index) => (
          <li key={id}>
            <code>{id}</code> {index === 0 ? <Badge tone="good">current</Badge> : <Badge>older</Badge>}
          </li>
        ))}
      </ul>
      <p>
        {isRotating(state) && <Badge tone="info">{rotation?.state}</Badge>} {rotationSentence(state)}
      </p>
      {rotation?.pass !== undefined && <Progress rotation={rotation} />}
      {(rotation?.unsealable ?? 0) > 0 && (
        <Notice tone="warning">
          <p>
            {rotation?.unsealable} documents cannot be opened, because their key is missing. Give it back in DATA_KEYS,
            or name it in LOST_DATA_KEYS.
          </p>
        </Notice>
      )}
      {rotation === null && (
        <p class="soft">
          To rotate, add a key to DATA_KEYS as the last one, then make it the first, with a restart each.
        </p>
      )}
    </>
  )
}

function Progress({ rotation }: { rotation: Schemas['KeyRotation'] }) {
  return (
    <dl class="privacy-progress">
      <dt>Sealed anew</dt>
      <dd>{rotation.renewed_in_all?.toLocaleString()}</dd>
      <dt>Looked at in pass {rotation.pass}</dt>
      <dd>{rotation.looked?.toLocaleString()}</dd>
      <dt>Began</dt>
      <dd>
        <Time at={rotation.started_at} />
      </dd>
      {rotation.done_at && (
        <>
          <dt>Done</dt>
          <dd>
            <Time at={rotation.done_at} />
          </dd>
        </>
      )}
    </dl>
  )
}

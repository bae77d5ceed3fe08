// Asks before the guard begins to refuse real users. In: the latest decisions that it only recorded. Out: how many of them it would have
// refused, and the decision of the viewer.
import { api, bodyOf } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { useQuery } from '../../data/use-query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Loading } from '../../ui/loading.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { foresee } from './fraud-words.ts'

/** As many as one page of the API has. */
const LATEST = 100

export const TurnOnGuard = ({ turnOn, onClose }: { turnOn(): Promise<void>; onClose(): void }) => (
  <Confirm
    title="Turn on the fraud guard?"
    action="Turn on"
    look="primary"
    cancel="Not now"
    perform={turnOn}
    onClose={onClose}
  >
    <p>From then on messages that look like SMS pumping are not sent. The user’s send is answered with 429.</p>
    <WouldHaveRefused />
  </Confirm>
)

function WouldHaveRefused() {
  const app = useApp()
  const decisions = useQuery(`foresight ${app.id}`, () =>
    bodyOf(api.GET('/admin/v1/apps/{id}/fraud', { params: { path: { id: app.id }, query: { limit: LATEST } } })),
  )
  if (decisions.problem) return <ProblemNotice problem={decisions.problem} onRetry={decisions.reload} />
  if (decisions.data === undefined) return <Loading what="what it would have refused" />
  const { items, next_cursor } = decisions.data
  const { refused, moved, since } = foresee(items)
  if (app.settings.fraud_guard.mode === 'off')
    return (
      <Notice tone="warning">
        It was off, so it is not known what it would have refused. Let it record for a few days first, if you can wait.
      </Notice>
    )
  if (refused + moved === 0)
    return <Notice tone="good">It would have refused none of the recent messages: nothing looked like fraud.</Notice>
  return (
    <Notice tone="warning">
      <p>
        Of its latest {items.length} decisions it would have refused <b>{refused}</b>
        {moved > 0 && (
          <>
            {' '}
            and moved <b>{moved}</b> to another channel
          </>
        )}
        , since <Time at={since} />.{next_cursor !== null && ' There are more.'}
      </p>
      <p>Look at them below first: if they are real users, leave it off.</p>
    </Notice>
  )
}

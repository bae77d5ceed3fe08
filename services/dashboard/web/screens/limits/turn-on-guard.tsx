// Asks before the guard begins to refuse real users. In: the latest decisions that it only recorded. Out: how many of them it would have
// refused, and the decision of the viewer.
import { api, bodyOf } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Loading } from '../../ui/loading.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { foresee } from './fraud-words.ts'

/** As many as one page of the API has. */
const LATEST = 100

export function TurnOnGuard({ turnOn, onClose }: { turnOn(): Promise<void>; onClose(): void }) {
  const change = useChange()
  const confirm = async () => {
    if (await change.run(turnOn)) onClose()
  }
  return (
    <Dialog title="Turn on the fraud guard?" onClose={onClose}>
      <div class="prose">
        <p>From then on messages that look like SMS pumping are not sent. The user’s send is answered with 429.</p>
        <WouldHaveRefused />
      </div>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <Actions>
        <Button look="primary" busy={change.busy} onClick={confirm}>
          Turn on
        </Button>
        <Button onClick={onClose}>Not now</Button>
      </Actions>
    </Dialog>
  )
}

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

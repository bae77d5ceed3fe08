// One verification: first why its code did or did not arrive, then its whole history.
import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { VERIFICATIONS_PATH, verificationPath } from '../../../screens.ts'
import { api, bodyOf } from '../../api/client.ts'
import { useAddress, useApp } from '../../data/tenant.tsx'
import { usePolling } from '../../data/use-polling.ts'
import { useQuery } from '../../data/use-query.ts'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Screen } from '../../ui/screen.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import type { History } from './delivery-words.ts'
import { Facts } from './facts.tsx'
import { StoryCard } from './story-card.tsx'
import { TimelineList } from './timeline-list.tsx'
import { VerificationActions } from './verification-actions.tsx'
import './verifications.css'

/** While it can still change. */
const REREAD_MS = 3_000

export default function Verification() {
  const { id = '' } = useRoute().params
  const { route } = useLocation()
  const app = useApp()
  const inApp = useAddress()
  const { data, problem, reload, poll } = useQuery(`verification ${id}`, call =>
    bodyOf(api.GET('/admin/v1/verifications/{otp_id}', { params: { path: { otp_id: id } }, ...call })),
  )
  usePolling(poll, data?.status === 'pending' ? REREAD_MS : null)
  // Links that know no more than the id name the app that was shown: the address is made to name the verification's own.
  const isOfOtherApp = data !== undefined && data.app_id !== app.id
  useEffect(() => {
    if (isOfOtherApp) route(`${inApp(verificationPath(id), data.app_id)}${location.search}`, true)
  }, [isOfOtherApp])

  return (
    <Screen
      title={data?.kind === 'message' ? 'Delivery of your own code' : 'Verification'}
      lead={data && <code>{data.otp_id}</code>}
      actions={
        <>
          {data && !isOfOtherApp && <VerificationActions history={data} reload={reload} />}
          {data && <CopyButton label="Copy link" text={location.href} />}
          <ScreenLink to={VERIFICATIONS_PATH}>Back to the list</ScreenLink>
        </>
      }
    >
      {data && !isOfOtherApp ? (
        <Content history={data} />
      ) : problem?.status === 404 ? (
        <Unknown id={id} />
      ) : problem ? (
        <ProblemNotice problem={problem} onRetry={reload} />
      ) : (
        <Loading what="the verification" />
      )}
    </Screen>
  )
}

const Content = ({ history }: { history: History }) => (
  <>
    <StoryCard history={history} />
    <div class="verification-columns">
      <Card title="Timeline">
        <TimelineList history={history} />
      </Card>
      <Card title="Details">
        <Facts history={history} />
      </Card>
    </div>
  </>
)

const Unknown = ({ id }: { id: string }) => (
  <Empty title="There is no verification with this id.">
    <p>
      <code>{id}</code>
    </p>
    <p>
      The id may be mistyped, of another company, or erased: verifications are kept for the days that the app's settings
      say. A send that was refused never became one:{' '}
      <ScreenLink to={`${VERIFICATIONS_PATH}?tab=refusals`}>see the refusals</ScreenLink>.
    </p>
  </Empty>
)

// Incidents of the company, and who is told of them: owners by email, endpoints that ask for events of notices.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useCompany, useTenant } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Fact } from '../../ui/fact.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { mailWords, noticeLabel } from './notice-words.ts'

type Notice = Schemas['Notice']
type Recipients = Schemas['NoticeRecipients']

export function NoticesCard() {
  const { id } = useCompany()
  const { apps } = useTenant()
  const recipients = useQuery(`notice recipients ${id}`, call =>
    bodyOf(api.GET('/admin/v1/companies/{id}/notices/recipients', { params: { path: { id } }, ...call })),
  )
  const notices = usePages(`notices ${id}`, (query, call) =>
    bodyOf(api.GET('/admin/v1/companies/{id}/notices', { params: { path: { id }, query }, ...call })),
  )
  const nameOf = (app_id: string): string => apps.find(app => app.id === app_id)?.name ?? app_id
  const columns: Column<Notice>[] = [
    { name: 'Time', show: ({ at }) => <Time at={at} /> },
    {
      name: 'What',
      show: ({ type, ongoing }) => (
        <span>
          {noticeLabel(type)} {ongoing && <Badge tone="warning">Ongoing</Badge>}
        </span>
      ),
    },
    {
      name: 'About',
      show: ({ app_id, subject }) => (app_id === null ? 'The company' : `${subject} of ${nameOf(app_id)}`),
    },
    { name: 'Mail', show: ({ mails }) => mailWords(mails) },
  ]
  return (
    <Card
      title="Notices"
      lead="A low balance, a paused endpoint, a provider that fails or falls silent: each incident is told once, and kept for 90 days."
    >
      {recipients.problem && <ProblemNotice problem={recipients.problem} onRetry={recipients.reload} />}
      {recipients.data && <WhoIsTold recipients={recipients.data} nameOf={nameOf} />}
      <PagedTable
        caption="notices"
        columns={columns}
        pages={notices}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No incident so far.">
            A low balance is one where <ScreenLink to="/money">Money</ScreenLink> has a threshold.
          </Empty>
        }
      />
    </Card>
  )
}

function WhoIsTold({ recipients, nameOf }: { recipients: Recipients; nameOf(app_id: string): string }) {
  const { by_email, owners, endpoints } = recipients
  return (
    <dl class="team-facts">
      <Fact name="By email">{emailWords(by_email, owners)}</Fact>
      <Fact name="By webhook">
        {endpoints.length === 0 ? (
          <>
            No endpoint asks for <code>ops.*</code> events. They are chosen under{' '}
            <ScreenLink to="/webhooks">Webhooks</ScreenLink>.
          </>
        ) : (
          endpoints.map(({ id, app_id, url, events }) => (
            <p key={id}>
              {nameOf(app_id)}: <code class="team-url">{url}</code>{' '}
              <span class="soft">({events.map(noticeLabel).join(', ')})</span>
            </p>
          ))
        )}
      </Fact>
    </dl>
  )
}

function emailWords(by_email: boolean, owners: Recipients['owners']): string {
  if (!by_email) return 'Nobody: this deployment has no email provider of its own.'
  if (owners.length === 0) return 'Nobody: the company has no owner.'
  return owners.map(({ email, user_id }) => email ?? user_id).join(', ')
}

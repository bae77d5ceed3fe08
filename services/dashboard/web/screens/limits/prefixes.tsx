// How many messages are verified, by country and range of numbers: what the guard compares with what is usual.
import { api, bodyOf } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import type { Column } from '../../ui/table.tsx'
import { type PrefixTally, prefixWords, shareOf, shareWords, sumOf } from './fraud-words.ts'

/** Few, because the settings stand below. */
const ROWS = 10
const REFRESH_MS = 30_000

const counted = (counts: { sent: number; verified: number }): string =>
  counts.sent === 0 ? '–' : `${counts.verified} of ${counts.sent}, ${shareWords(shareOf(counts))}`

const COLUMNS: readonly Column<PrefixTally>[] = [
  {
    name: 'Numbers',
    show: ({ prefix, mode, started_by }) => (
      <span>
        {prefixWords(prefix)} {mode === 'test' && <Badge>test</Badge>}{' '}
        {started_by === 'publishable' && <Badge>devices</Badge>}
      </span>
    ),
  },
  { name: 'Verified in the last hour', align: 'right', show: ({ last_hour }) => counted(last_hour) },
  { name: 'In the last days', align: 'right', show: ({ days }) => counted(sumOf(days)) },
  { name: 'Usual', align: 'right', show: ({ usual_share }) => shareWords(usual_share) },
]

export function Prefixes() {
  const app = useApp()
  const pages = usePages(
    `prefixes ${app.id}`,
    (page, call) => {
      const query = { ...page, limit: ROWS }
      return bodyOf(api.GET('/admin/v1/apps/{id}/fraud/prefixes', { params: { path: { id: app.id }, query }, ...call }))
    },
    { everyMs: REFRESH_MS },
  )
  return (
    <Card
      title="Conversion by range of numbers"
      lead="Of the messages that can cost money, how many were verified: to a country, to a million neighbouring numbers, and of what devices send to all numbers. The last hour leaves out its latest minutes: their users may still be typing."
    >
      <PagedTable
        caption="Conversion by range of numbers"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ prefix, mode, started_by }) => `${mode} ${started_by} ${prefix}`}
        empty={
          <Empty title="No message has been counted yet.">
            Countries and ranges appear a few seconds after their first code by SMS, WhatsApp or Telegram.
          </Empty>
        }
      />
    </Card>
  )
}

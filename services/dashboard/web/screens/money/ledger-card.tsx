// Every change of the balance, newest first, one page at a time. Times are in the zone in which the company's months begin and end.
import { verificationPath } from '../../../screens.ts'
import { api, type Schemas } from '../../api/client.ts'
import { formatChange, formatMicros } from '../../data/amounts.ts'
import type { Pages } from '../../data/use-pages.ts'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { ExportButton } from '../../ui/export-button.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { entryText, type LedgerEntry } from './ledger-words.ts'

export interface LedgerCardProps {
  company: Pick<Schemas['Company'], 'id' | 'timezone'>
  ledger: Pages<LedgerEntry>
  hasPrices: boolean
}

export function LedgerCard({ company: { id, timezone }, ledger, hasPrices }: LedgerCardProps) {
  return (
    <Card
      title="Ledger"
      lead="Every change of the balance."
      actions={
        <ExportButton
          key={id}
          read={(asCsv, query) =>
            api.GET('/admin/v1/companies/{id}/ledger', { params: { path: { id }, query }, ...asCsv })
          }
        />
      }
    >
      <div class="money-ledger">
        <PagedTable
          caption="Ledger"
          columns={columnsIn(timezone)}
          pages={ledger}
          keyOf={({ id }) => id}
          empty={
            <Empty title="The ledger is empty.">
              {hasPrices
                ? 'A credit, and each message that has a price, is entered here.'
                : 'Nothing has a price, so nothing is entered. Set a price and credit the company to use money at all.'}
            </Empty>
          }
        />
      </div>
    </Card>
  )
}

const columnsIn = (timezone: string): readonly Column<LedgerEntry>[] => [
  { name: `Time (${timezone})`, show: ({ at }) => <Time at={at} zone={timezone} /> },
  { name: 'What', show: entryText },
  { name: 'Amount', align: 'right', show: ({ micros }) => <Change micros={micros} /> },
  { name: 'Balance after', align: 'right', show: ({ balance_after }) => formatMicros(balance_after) },
  {
    name: 'For',
    // An entry with both is about a verification that was erased.
    show: ({ otp_id, note }) =>
      note ?? (otp_id ? <ScreenLink to={verificationPath(otp_id)}>Verification</ScreenLink> : '–'),
  },
]

const Change = ({ micros }: { micros: number }) => (
  <span class={micros > 0 ? 'money-plus' : ''}>{formatChange(micros)}</span>
)

// Money of a company: its balance, prices, ledger and reconciliation. Operators credit it and set the prices.
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useCompany } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { useQuery } from '../../data/use-query.ts'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Screen } from '../../ui/screen.tsx'
import { BalanceCard } from './balance-card.tsx'
import { LedgerCard } from './ledger-card.tsx'
import { PriceHistoryCard } from './price-history-card.tsx'
import { PricesCard } from './prices-card.tsx'
import { readAllPrices } from './read-prices.ts'
import { ReconciliationCard } from './reconciliation-card.tsx'
import { StatementCard } from './statement-card.tsx'
import './money.css'

export default function Money() {
  const { id, name } = useCompany()
  const mayReconcile = useMay('owner')
  const account = useQuery(`company ${id}`, call =>
    bodyOf(api.GET('/admin/v1/companies/{id}', { params: { path: { id } }, ...call })),
  )
  const prices = useQuery('prices', readAllPrices)
  const ledger = usePages(`ledger ${id}`, (page, call) =>
    bodyOf(api.GET('/admin/v1/companies/{id}/ledger', { params: { path: { id }, query: page }, ...call })),
  )
  const afterChange = async () => {
    await Promise.all([account.reload(), ledger.reload()])
  }
  const problem = account.problem ?? prices.problem
  const retry = () => {
    void account.reload()
    void prices.reload()
  }
  return (
    <Screen
      title="Money"
      lead={`What messages cost, and what ${name} has left. Amounts have no currency: use your own.`}
    >
      {problem && <ProblemNotice problem={problem} onRetry={retry} />}
      {account.data && prices.data ? (
        <>
          <div class="columns">
            <BalanceCard company={account.data} prices={prices.data} onChanged={afterChange} />
            <ReconciliationCard key={id} companyId={id} mayRun={mayReconcile} />
          </div>
          <PricesCard prices={prices.data} onSaved={prices.replace} reload={prices.reload} />
          <PriceHistoryCard prices={prices.data} />
          <StatementCard key={`statement of ${id}`} company={account.data} onChanged={account.reload} />
          <LedgerCard company={account.data} ledger={ledger} hasPrices={prices.data.size > 0} />
        </>
      ) : (
        !problem && <Loading what="money" />
      )}
    </Screen>
  )
}

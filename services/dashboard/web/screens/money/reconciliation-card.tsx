// Checks all of the company's money: every entry, charge and refund. The result is in words.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { problemText, type Reconciliation, reconciliationText } from './reconciliation-words.ts'

export function ReconciliationCard({ companyId, mayRun }: { companyId: string; mayRun: boolean }) {
  const [result, setResult] = useState<Reconciliation | null>(null)
  const change = useChange()
  const run = () =>
    change.run(async () => {
      setResult(
        await bodyOf(api.GET('/admin/v1/companies/{id}/reconciliation', { params: { path: { id: companyId } } })),
      )
    })
  return (
    <Card title="Reconciliation" lead="Compares the ledger with the balance and with every message that has a price.">
      {mayRun ? (
        <div class="actions">
          <Button busy={change.busy} onClick={run}>
            {result ? 'Check again' : 'Check the books'}
          </Button>
        </div>
      ) : (
        <p class="hint">{onlyRole('owner', 'run it, because it reads every entry and every message')}</p>
      )}
      {change.problem && <ProblemNotice problem={change.problem} onRetry={run} />}
      {result && <Result result={result} />}
    </Card>
  )
}

function Result({ result }: { result: Reconciliation }) {
  return (
    <Notice tone={result.problems.length === 0 ? 'good' : 'bad'}>
      <p>{reconciliationText(result)}</p>
      {result.problems.length > 0 && (
        <ul class="money-problems">
          {result.problems.map(problem => (
            <li key={problem}>{problemText(problem)}</li>
          ))}
        </ul>
      )}
    </Notice>
  )
}

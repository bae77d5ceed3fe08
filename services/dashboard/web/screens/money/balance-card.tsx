// The balance of the company, and what it means: without prices nothing is charged, and a balance of zero is as it should be.
import { useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.ts'
import { formatMicros } from '../../data/amounts.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CreditDialog } from './credit-dialog.tsx'
import type { Prices } from './price-table.ts'

export interface BalanceCardProps {
  company: Schemas['Company'] & { balance: number }
  prices: Prices
  onCredit(): Promise<void>
}

export function BalanceCard({ company, prices, onCredit }: BalanceCardProps) {
  const mayCredit = useMay('operator')
  const [open, setOpen] = useState(false)
  const isFree = [...prices.values()].every(micros => micros === 0)
  return (
    <Card title="Balance" lead={`Of ${company.name}, for all its apps.`}>
      <p class="money-balance">{formatMicros(company.balance)}</p>
      <p class={!isFree && company.balance <= 0 ? 'money-low' : 'soft'}>{meaning(company.balance, isFree)}</p>
      {mayCredit ? (
        <div class="actions">
          <Button look={isFree ? 'plain' : 'primary'} onClick={() => setOpen(true)}>
            Credit
          </Button>
        </div>
      ) : (
        <p class="hint">{onlyRole('operator', 'credit the company')}</p>
      )}
      {open && <CreditDialog company={company} onDone={onCredit} onClose={() => setOpen(false)} />}
    </Card>
  )
}

function meaning(balance: number, isFree: boolean): string {
  if (isFree)
    return 'Messages are free here: no price is set, so nothing is charged and no balance is needed. That is how a self-hosted system starts.'
  if (balance <= 0) return 'The balance is used up: sends that have a price are refused until it is credited.'
  return 'Each message is charged when it is accepted, and given back if it fails.'
}

// The balance of the company, and what it means: without prices nothing is charged, and a balance of zero is as it
// should be. Owners set below which balance they are told.
import { useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.ts'
import { formatMicros } from '../../data/amounts.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CreditDialog } from './credit-dialog.tsx'
import { LowBalanceDialog } from './low-balance-dialog.tsx'
import type { Prices } from './price-table.ts'

export interface BalanceCardProps {
  company: Schemas['Company']
  prices: Prices
  onChanged(): Promise<void>
}

export function BalanceCard({ company, prices, onChanged }: BalanceCardProps) {
  const mayCredit = useMay('operator')
  const maySetNotice = useMay('owner')
  const [open, setOpen] = useState<'credit' | 'notice' | null>(null)
  const close = () => setOpen(null)
  const isFree = [...prices.values()].every(micros => micros === 0)
  return (
    <Card title="Balance" lead={`Of ${company.name}, for all its apps.`}>
      <p class="money-balance">{formatMicros(company.balance)}</p>
      <p class={!isFree && company.balance <= 0 ? 'money-low' : 'soft'}>{meaning(company.balance, isFree)}</p>
      <p class="soft">{noticeWords(company.low_balance_micros)}</p>
      {maySetNotice && (
        <div class="actions">
          {mayCredit && (
            <Button look={isFree ? 'plain' : 'primary'} onClick={() => setOpen('credit')}>
              Credit
            </Button>
          )}
          <Button onClick={() => setOpen('notice')}>Set low-balance notice</Button>
        </div>
      )}
      {!mayCredit && <p class="hint">{onlyRole('operator', 'credit the company')}</p>}
      {open === 'credit' && <CreditDialog company={company} onDone={onChanged} onClose={close} />}
      {open === 'notice' && <LowBalanceDialog company={company} onDone={onChanged} onClose={close} />}
    </Card>
  )
}

function meaning(balance: number, isFree: boolean): string {
  if (isFree)
    return 'Messages are free here: no price is set, so nothing is charged and no balance is needed. That is how a self-hosted system starts.'
  if (balance <= 0) return 'The balance is used up: sends that have a price are refused until it is credited.'
  return 'Each message is charged when it is accepted, and given back if it fails.'
}

const noticeWords = (micros: number | null): string =>
  micros === null
    ? 'Nobody is told when the balance is low.'
    : `Owners are told when the balance is below ${formatMicros(micros)}.`

// The magic recipients: a click on one fills the field.
import { Button } from '../../ui/button.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type MagicRecipient, magicRecipients } from './magic-recipients.ts'

/** Undefined for `onPick`: there is no field to fill. */
export function MagicList({ onPick }: { onPick?: (recipient: string) => void }) {
  const show = (recipient: string) =>
    onPick ? (
      <Button look="quiet" onClick={() => onPick(recipient)}>
        {recipient}
      </Button>
    ) : (
      <code>{recipient}</code>
    )
  const columns: readonly Column<MagicRecipient>[] = [
    { name: 'Number', show: ({ number }) => show(number) },
    { name: 'Email address', show: ({ address }) => show(address) },
    { name: 'What happens', show: ({ outcome }) => outcome },
  ]
  return (
    <div class="try-magic">
      <Table caption="Magic recipients" columns={columns} rows={magicRecipients} keyOf={({ number }) => number} />
    </div>
  )
}

// The viewer's own passkeys: with one, the viewer signs in and proves who they are without a code. Not shown where there are none: to
// operators, and where browsers offer none for the dashboard's address.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { createPasskey } from '../../data/passkeys.ts'
import { useMe } from '../../data/session.tsx'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { NameDialog } from '../../ui/name-dialog.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { type Column, RowActions, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'

type Passkey = Schemas['Passkey']

const TITLE = 'Your passkeys'

export function PasskeysCard() {
  const me = useMe()
  const say = useToast()
  const [open, setOpen] = useState<'add' | Passkey | null>(null)
  const passkeys = useQuery(`passkeys ${me.session_id}`, call => bodyOf(api.GET('/admin/v1/me/passkeys', call)))
  const add = async (name: string) => {
    const options = await bodyOf(api.POST('/admin/v1/me/passkeys/options'))
    const credential = await createPasskey(options)
    await bodyOf(api.POST('/admin/v1/me/passkeys', { body: { name, credential } }))
    say(`The passkey ${name} was added.`)
    await passkeys.reload()
  }
  if (passkeys.data === undefined && passkeys.problem)
    return (
      <Card title={TITLE}>
        <ProblemNotice problem={passkeys.problem} onRetry={passkeys.reload} />
      </Card>
    )
  if (!passkeys.data?.available) return null
  const columns: Column<Passkey>[] = [
    { name: 'Name', show: ({ name }) => name },
    { name: 'Added', show: ({ created_at }) => <Time at={created_at} /> },
    { name: 'Last used', show: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} />) },
    {
      name: 'Actions',
      quiet: true,
      align: 'right',
      show: passkey => (
        <RowActions>
          <Button look="quiet danger" aria-label={`Remove ${passkey.name}`} onClick={() => setOpen(passkey)}>
            Remove
          </Button>
        </RowActions>
      ),
    },
  ]
  return (
    <Card
      title={TITLE}
      lead="Sign in with a fingerprint, a face or the PIN of your device in place of a code. They are yours in every company."
      actions={<Button onClick={() => setOpen('add')}>Add a passkey</Button>}
    >
      {passkeys.problem && <ProblemNotice problem={passkeys.problem} onRetry={passkeys.reload} />}
      {passkeys.data.items.length === 0 ? (
        <Empty title="You have no passkey yet." />
      ) : (
        <Table caption="your passkeys" columns={columns} rows={passkeys.data.items} keyOf={({ id }) => id} />
      )}
      {open === 'add' && (
        <NameDialog
          title="Add a passkey"
          hint="By which you know it, such as Work laptop."
          action="Add"
          perform={name => add(name.trim())}
          onClose={() => setOpen(null)}
        />
      )}
      {open !== null && open !== 'add' && (
        <Confirm
          title={`Remove the passkey ${open.name}?`}
          action="Remove passkey"
          perform={async () => {
            await bodyOf(api.DELETE('/admin/v1/me/passkeys/{id}', { params: { path: { id: open.id } } }))
            say(`The passkey ${open.name} was removed.`)
            await passkeys.reload()
          }}
          onClose={() => setOpen(null)}
        >
          <p>It signs nobody in from then on. Sessions go on. Delete it on your device too.</p>
        </Confirm>
      )}
    </Card>
  )
}

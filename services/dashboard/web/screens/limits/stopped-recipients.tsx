// The recipients who asked for no more messages, newest first. A developer can remove one, and is warned.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { type Column, RowActions } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'

type Rule = Schemas['RecipientRule']

/** Few, because the settings stand below. */
const ROWS = 10
const REFRESH_MS = 30_000

const nameOf = ({ masked_recipient }: Rule): string => masked_recipient ?? 'A person who was erased'

export function StoppedRecipients() {
  const app = useApp()
  const may = useMay('developer')
  const say = useToast()
  const [removing, setRemoving] = useState<Rule | null>(null)
  const pages = usePages(
    `recipients ${app.id}`,
    (page, call) => {
      const query = { ...page, limit: ROWS }
      return bodyOf(api.GET('/admin/v1/apps/{id}/recipients', { params: { path: { id: app.id }, query }, ...call }))
    },
    { everyMs: REFRESH_MS },
  )
  const columns: Column<Rule>[] = [
    {
      name: 'Recipient',
      show: rule => (
        <span>
          {nameOf(rule)} {rule.mode === 'test' && <Badge>test</Badge>}
        </span>
      ),
    },
    {
      name: 'Stopped',
      show: ({ channel, at }) => (
        <span>
          by the recipient on {CHANNEL_NAMES[channel]}, <Time at={at} />
        </span>
      ),
    },
    {
      name: 'Told by',
      show: ({ told_by, provider }) => (told_by === 'vendor' ? `the vendor (${provider})` : 'a message'),
    },
    {
      name: 'Actions',
      quiet: true,
      align: 'right',
      show: rule =>
        may && (
          <RowActions>
            <Button
              look="quiet danger"
              aria-label={`Remove the STOP of ${nameOf(rule)}`}
              onClick={() => setRemoving(rule)}
            >
              Remove
            </Button>
          </RowActions>
        ),
    },
  ]
  return (
    <Card
      title="Recipients who said STOP"
      lead="They answered STOP, and get no more messages on that channel until they write START. Other channels are used for them."
    >
      <PagedTable
        caption="Recipients who said STOP"
        columns={columns}
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No recipient has said STOP.">
            STOP arrives where the vendor brings incoming messages to the callback address, which the screen Providers
            shows.
          </Empty>
        }
      />
      {removing && (
        <Confirm
          title={`Send to ${nameOf(removing)} again?`}
          action="Remove STOP"
          perform={async () => {
            await bodyOf(api.DELETE('/admin/v1/recipients/{id}', { params: { path: { id: removing.id } } }))
            say('The STOP was removed.')
            await pages.reload()
          }}
          onClose={() => setRemoving(null)}
        >
          <p>
            This person asked for no more messages on {CHANNEL_NAMES[removing.channel]}. Laws of many countries forbid
            to send without their consent, and their vendor may refuse all the same. Remove it only where they asked you
            for it; otherwise let them write START. The audit log names you.
          </p>
        </Confirm>
      )}
    </Card>
  )
}

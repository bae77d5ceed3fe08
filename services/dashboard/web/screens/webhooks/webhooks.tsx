// The endpoints of an app: which there are and how each is doing; then the chosen one, with its secrets and its events.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useAddressFilters } from '../../data/use-address-filters.ts'
import { useQuery } from '../../data/use-query.ts'
import { useShownOnce } from '../../data/use-shown-once.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Reading } from '../../ui/reading.tsx'
import { Screen } from '../../ui/screen.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { EndpointState } from '../api-keys/endpoint-state.tsx'
import { Events } from '../api-keys/events.tsx'
import { Signatures } from '../api-keys/signatures.tsx'
import { TestEvent } from '../api-keys/test-event.tsx'
import { EndpointBadge } from '../api-keys/webhook.tsx'
import { endpointTitle } from '../api-keys/webhook-text.ts'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { EndpointsTable, type ListedEndpoint } from './endpoints-table.tsx'
import '../api-keys/api-keys.css'
import './webhooks.css'

const POLL_MS = 3_000
const MAX_ENDPOINTS = 10

/** In the address too, so that a link shows the events of the same endpoint. */
const CHOSEN = [{ name: 'endpoint', label: 'Endpoint' }] as const

type OpenDialog = { add: true } | { edit: ListedEndpoint } | { delete: ListedEndpoint } | null

export default function Webhooks() {
  const app = useApp()
  const mayChange = useMay('developer')
  const say = useToast()
  const [{ endpoint: chosenId }, choose] = useAddressFilters(CHOSEN)
  const setChosenId = (endpoint: string) => choose({ endpoint })
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const query = useQuery(
    `endpoints ${app.id}`,
    call => bodyOf(api.GET('/admin/v1/apps/{id}/endpoints', { params: { path: { id: app.id } }, ...call })),
    { everyMs: POLL_MS },
  )
  const endpoints = query.data?.items ?? []
  const chosen = endpoints.find(({ id }) => id === chosenId) ?? endpoints[0]
  const [secret, setSecret] = useShownOnce(`signing secret of ${chosen?.id ?? app.id}`)
  const [newSecret, keepNewSecret] = useShownOnce(`signing secret of a new endpoint of ${app.id}`)
  const close = () => setDialog(null)

  async function remove(endpoint: ListedEndpoint): Promise<void> {
    await api.DELETE('/admin/v1/endpoints/{id}', { params: { path: { id: endpoint.id } } })
    await query.reload()
    say(`${endpointTitle(endpoint)} is deleted.`)
  }

  return (
    <Screen
      title="Webhooks"
      lead="Countersign tells your backends what became of verifications. Each endpoint has its own secret, gets the events that it asks for, and is retried and paused by itself."
    >
      <Card
        title="Endpoints"
        lead="The oldest one is also on the screen API Keys."
        actions={
          mayChange && (
            <Button
              look="primary"
              disabled={query.data === undefined || endpoints.length >= MAX_ENDPOINTS}
              onClick={() => setDialog({ add: true })}
            >
              Add endpoint
            </Button>
          )
        }
      >
        <Reading of={query} what="endpoints" />
        {query.data && endpoints.length === 0 && (
          <Empty title="This app has no endpoint yet.">Until there is one, events are kept and not sent.</Empty>
        )}
        {endpoints.length > 0 && (
          <EndpointsTable
            endpoints={endpoints}
            chosenId={chosen?.id ?? null}
            onChoose={setChosenId}
            {...(mayChange
              ? {
                  onEdit: (edit: ListedEndpoint) => setDialog({ edit }),
                  onDelete: (one: ListedEndpoint) => setDialog({ delete: one }),
                }
              : {})}
          />
        )}
      </Card>
      {chosen && (
        <>
          <Card title={endpointTitle(chosen)} lead={chosen.url} actions={<EndpointBadge of={chosen} />}>
            <EndpointState endpoint={chosen} reload={query.reload} />
            <TestEvent key={chosen.id} endpoint={chosen} />
          </Card>
          <Signatures
            key={`signatures ${chosen.id}`}
            endpoint={chosen}
            secret={secret}
            onSecret={setSecret}
            reload={query.reload}
          />
          <Events key={`events ${chosen.id}`} hasEndpoint of={chosen} />
        </>
      )}
      {(newSecret !== null || (dialog && 'add' in dialog)) && (
        <EndpointDialog
          secret={newSecret}
          onSaved={async (endpoint, made) => {
            keepNewSecret(made)
            setChosenId(endpoint.id)
            await query.reload()
          }}
          onClose={() => {
            keepNewSecret(null)
            close()
          }}
        />
      )}
      {dialog && 'edit' in dialog && (
        <EndpointDialog endpoint={dialog.edit} secret={null} onSaved={query.reload} onClose={close} />
      )}
      {dialog && 'delete' in dialog && (
        <Confirm
          title={`Delete ${endpointTitle(dialog.delete)}?`}
          action="Delete endpoint"
          perform={() => remove(dialog.delete)}
          onClose={close}
        >
          <p>
            It is called no more within five seconds, for good.
            {dialog.delete.waiting > 0 && ` ${dialog.delete.waiting} events wait for it, and are not sent.`}
          </p>
        </Confirm>
      )}
    </Screen>
  )
}

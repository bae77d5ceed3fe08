// The list of endpoints: where each is, what it asks for, and whether anything waits for it.
import type { Schemas } from '../../api/schema.ts'
import { Button } from '../../ui/button.tsx'
import { type Column, RowActions, Table } from '../../ui/table.tsx'
import { EndpointBadge } from '../api-keys/webhook.tsx'
import { endpointTitle } from '../api-keys/webhook-text.ts'

export type ListedEndpoint = Schemas['ListedWebhookEndpoint']

export interface EndpointsTableProps {
  endpoints: readonly ListedEndpoint[]
  chosenId: string | null
  onChoose(id: string): void
  /** Absent where the viewer may not. */
  onEdit?(endpoint: ListedEndpoint): void
  onDelete?(endpoint: ListedEndpoint): void
}

const nameId = ({ id }: ListedEndpoint): string => `name-of-${id}`

export function EndpointsTable({ endpoints, chosenId, onChoose, onEdit, onDelete }: EndpointsTableProps) {
  const columns: Column<ListedEndpoint>[] = [
    { name: 'Endpoint', show: endpoint => <Name of={endpoint} /> },
    { name: 'State', show: endpoint => <EndpointBadge of={endpoint} /> },
    { name: 'Events', show: ({ events }) => <span class="webhooks-events">{events.join(', ')}</span> },
    { name: 'Payload', show: ({ payload }) => payload },
    { name: 'Waiting', align: 'right', show: ({ waiting }) => waiting },
    { name: 'Failures', align: 'right', show: ({ failures }) => failures },
    {
      name: 'Actions',
      quiet: true,
      show: endpoint => (
        <RowActions>
          <Button
            look="quiet"
            aria-pressed={endpoint.id === chosenId}
            aria-describedby={nameId(endpoint)}
            onClick={() => onChoose(endpoint.id)}
          >
            Show
          </Button>
          {onEdit && (
            <Button look="quiet" aria-describedby={nameId(endpoint)} onClick={() => onEdit(endpoint)}>
              Edit
            </Button>
          )}
          {onDelete && (
            <Button look="quiet" aria-describedby={nameId(endpoint)} onClick={() => onDelete(endpoint)}>
              Delete
            </Button>
          )}
        </RowActions>
      ),
    },
  ]
  return (
    <div class="webhooks-list">
      <Table caption="Endpoints of this app" columns={columns} rows={endpoints} keyOf={({ id }) => id} />
    </div>
  )
}

function Name({ of: endpoint }: { of: ListedEndpoint }) {
  return (
    <span class="webhooks-name">
      <strong id={nameId(endpoint)}>{endpointTitle(endpoint)}</strong>
      <span class="soft">{endpoint.url}</span>
    </span>
  )
}

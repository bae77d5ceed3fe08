// A table of events. Each row opens to show the attempts, their answers, and the body that was sent.
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { RowActions } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { EventDetails } from './event-details.tsx'
import { ModeBadge } from './mode-badge.tsx'
import { attemptResult, EVENT_STATUSES, type WebhookEvent } from './webhook-text.ts'

export interface EventsTableProps {
  events: readonly WebhookEvent[]
  /** Absent where the viewer may not. */
  onReplay?(event: WebhookEvent): void
  replaying?: boolean
}

const COLUMNS = ['Event', 'Mode', 'When', 'Status', 'Last attempt'] as const

/** An event that goes to several endpoints has a row for each. */
const rowId = ({ id, endpoint_id }: WebhookEvent): string => `${id}-${endpoint_id}`
const typeId = (event: WebhookEvent): string => `type-of-${rowId(event)}`
const detailsId = (event: WebhookEvent): string => `details-of-${rowId(event)}`

export function EventsTable({ events, onReplay, replaying = false }: EventsTableProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) =>
    setOpen(old => {
      const changed = new Set(old)
      if (!changed.delete(id)) changed.add(id)
      return changed
    })
  return (
    <div class="table-frame">
      <table class="api-keys-events">
        <caption class="unseen">Webhook events</caption>
        <thead>
          <tr>
            {COLUMNS.map(name => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {events.map(event => {
            const isOpen = open.has(rowId(event))
            return (
              <Fragment key={rowId(event)}>
                <tr class={isOpen ? 'open' : ''}>
                  <Cells of={event} />
                  <td>
                    <RowActions>
                      <Button
                        look="quiet"
                        aria-expanded={isOpen}
                        aria-controls={isOpen ? detailsId(event) : undefined}
                        aria-describedby={typeId(event)}
                        onClick={() => toggle(rowId(event))}
                      >
                        Details
                      </Button>
                      {onReplay && (
                        <Button
                          look="quiet"
                          busy={replaying}
                          aria-describedby={typeId(event)}
                          onClick={() => onReplay(event)}
                        >
                          Replay
                        </Button>
                      )}
                    </RowActions>
                  </td>
                </tr>
                {isOpen && (
                  <tr class="api-keys-event-details" id={detailsId(event)}>
                    <td colSpan={COLUMNS.length + 1}>
                      <EventDetails of={event} />
                    </td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function Cells({ of: event }: { of: WebhookEvent }) {
  const { type, mode, created_at, status, attempts } = event
  const last = attempts.at(-1)
  const [EVENT, MODE, WHEN, STATUS, LAST] = COLUMNS
  return (
    <>
      <td data-label={EVENT}>
        <strong id={typeId(event)}>{type}</strong>
      </td>
      <td data-label={MODE}>
        <ModeBadge of={mode} />
      </td>
      <td data-label={WHEN}>
        <Time at={created_at} />
      </td>
      <td data-label={STATUS}>
        <Badge tone={EVENT_STATUSES[status].tone}>{status}</Badge>
      </td>
      <td data-label={LAST}>{last ? attemptResult(last) : <span class="soft">none yet</span>}</td>
    </>
  )
}

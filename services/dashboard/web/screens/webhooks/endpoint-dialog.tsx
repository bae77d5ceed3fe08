// The dialog that adds or changes an endpoint, and shows the secret of a new one this once.
import { useState } from 'preact/hooks'
import { DEFAULT_EVENTS, WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../../../../machines/webhook-events.ts'
import { api, bodyOf } from '../../api/client.ts'
import { changedMembers } from '../../data/settings-patch.ts'
import { useApp } from '../../data/tenant.tsx'
import { type Change, useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { Switch, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { ShownOnce } from '../api-keys/shown-once.tsx'
import type { Endpoint } from '../api-keys/webhook-text.ts'

const PAYLOADS = [
  { value: 'minimal', label: 'Minimal', hint: 'Ids and the status.' },
  { value: 'full', label: 'Full', hint: 'Also channel, country, reason, time and metadata.' },
] as const

export interface EndpointDialogProps {
  /** Absent for a new one. */
  endpoint?: Endpoint
  /** The secret of an endpoint that was just added. */
  secret: string | null
  onSaved(endpoint: Endpoint, secret: string | null): Promise<void>
  onClose(): void
}

export function EndpointDialog({ endpoint, secret, onSaved, onClose }: EndpointDialogProps) {
  const change = useChange()
  const title = endpoint ? 'Edit endpoint' : 'Add an endpoint'
  return (
    <Dialog
      title={secret ? 'Copy its secret now' : title}
      busy={change.busy && secret === null}
      staysOnEscape={secret !== null}
      onClose={onClose}
    >
      {secret ? (
        <>
          <ShownOnce label="Signing secret" value={secret} />
          <Notice tone="warning">
            <p>It is shown this once. Your backend checks signatures with it; a new one can be made at any time.</p>
          </Notice>
          <Actions>
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </Actions>
        </>
      ) : (
        <Fields {...(endpoint ? { endpoint } : {})} change={change} onSaved={onSaved} onClose={onClose} />
      )}
    </Dialog>
  )
}

function Fields({ endpoint, change, onSaved, onClose }: Omit<EndpointDialogProps, 'secret'> & { change: Change }) {
  const app = useApp()
  const say = useToast()
  const [name, setName] = useState(endpoint?.name ?? '')
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [events, setEvents] = useState<readonly WebhookEventType[]>(endpoint?.events ?? DEFAULT_EVENTS)
  const [payload, setPayload] = useState(endpoint?.payload ?? 'minimal')
  const ask = (type: WebhookEventType, asked: boolean) =>
    setEvents(old => WEBHOOK_EVENT_TYPES.filter(one => (one === type ? asked : old.includes(one))))

  async function save(): Promise<void> {
    const done = await change.run(async () => {
      const body = { name: name.trim() || null, url: url.trim(), events: [...events], payload }
      if (endpoint) {
        const params = { path: { id: endpoint.id } }
        const changed = changedMembers(endpoint, body)
        await onSaved(await bodyOf(api.PATCH('/admin/v1/endpoints/{id}', { params, body: changed })), null)
        return
      }
      const params = { path: { id: app.id } }
      const { secret = null, ...made } = await bodyOf(api.POST('/admin/v1/apps/{id}/endpoints', { params, body }))
      await onSaved(made, secret)
    })
    if (!done) return
    say('The endpoint is saved.')
    if (endpoint) onClose()
  }

  const refused = change.errorOf('url')
  return (
    <Form change={change} onSubmit={save}>
      <TextField
        label="Endpoint URL"
        type="url"
        hint="https, at a public address."
        placeholder="https://crm.example/hooks/countersign"
        value={url}
        onInput={setUrl}
        error={refused && `The address ${refused}.`}
        autofocus
      />
      <TextField
        label="Name"
        hint="Helps you to tell endpoints apart."
        placeholder="CRM"
        value={name}
        onInput={setName}
        error={change.errorOf('name')}
      />
      <fieldset class="webhooks-asks">
        <legend>Events</legend>
        {WEBHOOK_EVENT_TYPES.map(type => (
          <Switch key={type} label={type} checked={events.includes(type)} onChange={asked => ask(type, asked)} />
        ))}
        {change.errorOf('events') && <p class="error">Choose at least one.</p>}
      </fieldset>
      <RadioGroup label="Payload" value={payload} options={PAYLOADS} onChange={value => setPayload(value)} />
      <SubmitActions action={endpoint ? 'Save' : 'Add'} busy={change.busy} onCancel={onClose} />
    </Form>
  )
}

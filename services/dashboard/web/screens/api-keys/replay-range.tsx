// The dialog that sends the events of a time again.
import { useState } from 'preact/hooks'
import { HOUR_MS } from '../../../../../infra/time.ts'
import { api, bodyOf } from '../../api/client.ts'
import { fromLocalField, toLocalField } from '../../data/local-field.ts'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useToast } from '../../ui/toasts.tsx'

export interface ReplayRangeProps {
  /** Where only one endpoint is sent them. */
  only: { endpoint_id?: string }
  onReplayed(): Promise<void>
  onClose(): void
}

export function ReplayRange({ only, onReplayed, onClose }: ReplayRangeProps) {
  const app = useApp()
  const say = useToast()
  const change = useChange()
  const [since, setSince] = useState(() => toLocalField(new Date(Date.now() - HOUR_MS).toISOString()))
  const [until, setUntil] = useState('')
  const [foundNone, setFoundNone] = useState(false)

  async function replay(): Promise<void> {
    let count = 0
    setFoundNone(false)
    const done = await change.run(async () => {
      const end = fromLocalField(until)
      // The server says in words what is wrong with an empty time.
      const body = { since: fromLocalField(since), ...(end === '' ? {} : { until: end }), ...only }
      const { replayed } = await bodyOf(
        api.POST('/admin/v1/apps/{id}/events/replay', { params: { path: { id: app.id } }, body }),
      )
      count = replayed
      await onReplayed()
    })
    if (!done) return
    if (count === 0) return setFoundNone(true)
    say(count === 1 ? 'One event is sent again.' : `${count} events are sent again, oldest first.`)
    onClose()
  }

  return (
    <Dialog title="Send a time range again" busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={replay}>
        <p class="soft">
          Every event of that time is sent once more, delivered ones too, with the same id and body. Your backend
          handles each id once, so nothing happens twice.
        </p>
        <TextField
          label="Since"
          type="datetime-local"
          value={since}
          onInput={setSince}
          error={change.errorOf('since')}
          autofocus
        />
        <TextField
          label="Until"
          type="datetime-local"
          hint="Empty: now. Both times are in your own time zone."
          value={until}
          onInput={setUntil}
          error={change.errorOf('until')}
        />
        {foundNone && <Notice>Nothing happened in that time.</Notice>}
        <SubmitActions action="Send again" busy={change.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

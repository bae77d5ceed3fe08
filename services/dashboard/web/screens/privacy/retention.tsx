// How long the app keeps verifications.
import { useState } from 'preact/hooks'
import { SETTING_FIELDS } from '../../../apps/settings.data.ts'
import { api, bodyOf } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { hintOf } from '../../data/setting-words.ts'
import { useApp, useTenant } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useToast } from '../../ui/toasts.tsx'

export function Retention() {
  const app = useApp()
  const { replaceApp } = useTenant()
  const mayChange = useMay('developer')
  const [days, setDays] = useState(String(app.settings.retention_days))
  const change = useChange()
  const say = useToast()

  const save = () =>
    change.run(async () => {
      // An empty field is 0, which the API refuses in words beside the field.
      const retention_days = Number(days)
      const params = { path: { id: app.id } }
      const changed = await bodyOf(api.PATCH('/admin/v1/apps/{id}', { params, body: { settings: { retention_days } } }))
      replaceApp(changed)
      setDays(String(changed.settings.retention_days))
      say('The retention was saved.')
    })

  return (
    <Card
      title="Retention"
      lead="Afterwards everything of a verification is erased automatically: recipient, client address, messages, timeline."
    >
      <Form change={change} onSubmit={save}>
        <TextField
          label="Days"
          hint={hintOf('retention_days')}
          type="number"
          {...SETTING_FIELDS.retention_days.bounds}
          value={days}
          onInput={setDays}
          error={change.errorOf('settings.retention_days')}
          disabled={!mayChange}
        />
        <div class="actions">
          <Button type="submit" busy={change.busy} disabled={!mayChange}>
            Save
          </Button>
        </div>
        {!mayChange && <p class="soft">{onlyRole('developer', 'change it')}</p>}
      </Form>
    </Card>
  )
}

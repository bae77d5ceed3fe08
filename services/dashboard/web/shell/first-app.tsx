// A company without an app: the first thing to do.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../api/client.ts'
import { onlyRole } from '../data/role-words.ts'
import { useMay } from '../data/session.tsx'
import { useTenant } from '../data/tenant.tsx'
import { useChange } from '../data/use-change.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Screen } from '../ui/screen.tsx'

export function FirstApp() {
  const { company, reload } = useTenant()
  const mayCreate = useMay('developer')
  const [name, setName] = useState('')
  const change = useChange()
  if (company === null) return <Empty title="There is no company yet.">{onlyRole('operator', 'create one')}</Empty>
  if (!mayCreate) return <Empty title="There is no app yet.">{onlyRole('developer', 'create one')}</Empty>
  const create = () =>
    change.run(async () => {
      await bodyOf(api.POST('/admin/v1/companies/{id}/apps', { params: { path: { id: company.id } }, body: { name } }))
      await reload()
    })
  return (
    <Screen title="Create your first app" lead="An app has its own keys, routing, providers and webhook.">
      <Form change={change} onSubmit={create}>
        <TextField
          label="Name"
          hint="Your users read it in their messages."
          value={name}
          onInput={setName}
          error={change.errorOf('name')}
        />
        <div class="actions">
          <Button look="primary" type="submit" busy={change.busy}>
            Create app
          </Button>
        </div>
      </Form>
    </Screen>
  )
}

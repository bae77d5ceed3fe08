// The address that events are sent to. The first one that is saved gets a signing secret.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { useToast } from '../../ui/toasts.tsx'
import type { Endpoint } from './webhook-text.ts'

export interface EndpointFormProps {
  /** Null where the app has none yet. */
  endpoint: Endpoint | null
  /** Resolves to whether the app has one by now, which is then shown. */
  findFirst(): Promise<boolean>
  /** `secret`: made for a new endpoint. */
  onSaved(secret: string | null): Promise<void>
}

interface Typed {
  /** What was typed for one endpoint is not saved into another one, which is the oldest once that one is deleted. */
  endpointId: string | undefined
  text: string
}

export function EndpointForm({ endpoint, findFirst, onSaved }: EndpointFormProps) {
  const app = useApp()
  const mayChange = useMay('developer')
  const say = useToast()
  // Null: not edited, so the field shows what is stored, also after another person has changed it.
  const [typed, setTyped] = useState<Typed | null>(null)
  const [createdId, setCreatedId] = useState<string | null>(null)
  const stored = endpoint?.url ?? ''
  // What was typed while the first endpoint was saved is for that one.
  const isForThis = ({ endpointId }: Typed) =>
    endpointId === endpoint?.id || (endpointId === undefined && endpoint?.id === createdId)
  const url = typed && isForThis(typed) ? typed.text : stored
  const change = useChange()
  const save = () =>
    change.run(async () => {
      const body = { url: url.trim() }
      if (endpoint !== null) {
        await api.PATCH('/admin/v1/endpoints/{id}', { params: { path: { id: endpoint.id } }, body })
        await onSaved(null)
      } else {
        if (await findFirst())
          throw new Problem(409, {
            detail: `Another person has set an endpoint meanwhile, which is shown now. Yours was not saved: ${body.url}`,
          })
        const params = { path: { id: app.id } }
        const { id, secret = null } = await bodyOf(api.POST('/admin/v1/apps/{id}/endpoints', { params, body }))
        setCreatedId(id)
        await onSaved(secret)
      }
      // What was typed meanwhile stays.
      setTyped(latest => (latest === typed ? null : latest))
      say('The endpoint is saved.')
    })
  const refused = change.errorOf('url')
  return (
    <form
      class="api-keys-endpoint"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField
        label="Endpoint URL"
        type="url"
        placeholder="https://shop.example/hooks/countersign"
        value={url}
        onInput={text => setTyped(text === stored ? null : { endpointId: endpoint?.id, text })}
        readOnly={!mayChange}
        hint={hintFor(endpoint, mayChange)}
        error={refused && `The address ${refused}.`}
      />
      {mayChange && (
        <Button look={endpoint ? 'plain' : 'primary'} type="submit" busy={change.busy}>
          Save
        </Button>
      )}
      {/* The words beside the field are enough. */}
      {change.problem && !refused && <ProblemNotice problem={change.problem} />}
    </form>
  )
}

function hintFor(endpoint: Endpoint | null, mayChange: boolean): string {
  if (!mayChange)
    return endpoint ? onlyRole('developer', 'change it') : `There is none yet. ${onlyRole('developer', 'set it')}`
  if (endpoint) return 'https, at a public address.'
  return 'https, at a public address. Until there is one, events are kept and not sent.'
}

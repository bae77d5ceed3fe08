// The hook by which Supabase Auth has its codes delivered: its address, and the secret of each mode, which is never shown.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { type Column, RowActions, Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { type KeyMode, MODES } from '../api-keys/key-text.ts'
import { ModeBadge } from '../api-keys/mode-badge.tsx'

type Hook = Schemas['SupabaseHook']
type OpenDialog = { set: KeyMode } | { remove: KeyMode } | null

export function SupabaseCard() {
  const { id } = useApp()
  const may = useMay('developer')
  const say = useToast()
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const params = { path: { id } }
  const {
    data: hook,
    problem,
    replace,
  } = useQuery(`supabase hook ${id}`, signal =>
    bodyOf(api.GET('/admin/v1/apps/{id}/hooks/supabase', { params, signal })),
  )
  const close = () => setDialog(null)
  const save = async (mode: KeyMode, secret: string | null): Promise<void> => {
    replace(await bodyOf(api.PUT('/admin/v1/apps/{id}/hooks/supabase', { params, body: { mode, secret } })))
    say(secret === null ? 'The secret is removed.' : 'The secret is saved.')
  }
  return (
    <Card
      title="Supabase Auth"
      lead="Supabase makes its own codes, and Countersign delivers them: by its hooks “Send SMS” and “Send Email”."
    >
      {problem && <ProblemNotice problem={problem} />}
      {hook ? (
        <>
          <CodeBlock label="Address of the hook" text={`${location.origin}${hook.path}`} />
          <p class="hint">
            Enter it in Supabase under Authentication → Hooks, let Supabase generate a secret, and give it here. Where
            the API has another address than this page, put that in its place.
          </p>
          <Table
            caption="Secrets of the hook"
            columns={columnsOf(hook, may, setDialog)}
            rows={MODES}
            keyOf={mode => mode}
          />
        </>
      ) : (
        !problem && <Loading what="the hook" />
      )}
      {dialog && 'set' in dialog && <SetSecret mode={dialog.set} save={save} onClose={close} />}
      {dialog && 'remove' in dialog && (
        <Confirm
          title={`Remove the ${dialog.remove} secret?`}
          action="Remove secret"
          perform={() => save(dialog.remove, null)}
          onClose={close}
        >
          <p>Calls of Supabase that it signs are refused within five seconds, and their codes are not delivered.</p>
        </Confirm>
      )}
    </Card>
  )
}

function columnsOf(hook: Hook, may: boolean, open: (dialog: OpenDialog) => void): Column<KeyMode>[] {
  const { secrets, unreadable } = hook
  const isSet = (mode: KeyMode): boolean => secrets[mode] !== null || unreadable.includes(mode)
  const columns: Column<KeyMode>[] = [
    { name: 'Mode', show: mode => <ModeBadge of={mode} /> },
    {
      name: 'Secret',
      show: mode =>
        unreadable.includes(mode) ? (
          'Set, but it cannot be read: its data key is no longer configured. Calls that it signs are answered with 503, and their codes are not sent, until the key is back or the secret is replaced.'
        ) : isSet(mode) ? (
          <code>{secrets[mode]}</code>
        ) : (
          <span class="soft">Not set</span>
        ),
    },
  ]
  if (!may) return columns
  const actions: Column<KeyMode> = {
    name: 'Actions',
    quiet: true,
    show: mode => (
      <RowActions>
        <Button look="quiet" aria-label={`Set the ${mode} secret`} onClick={() => open({ set: mode })}>
          {isSet(mode) ? 'Replace' : 'Set'}
        </Button>
        {isSet(mode) && (
          <Button look="quiet" aria-label={`Remove the ${mode} secret`} onClick={() => open({ remove: mode })}>
            Remove
          </Button>
        )}
      </RowActions>
    ),
  }
  return [...columns, actions]
}

interface SetSecretProps {
  mode: KeyMode
  save(mode: KeyMode, secret: string): Promise<void>
  onClose(): void
}

function SetSecret({ mode, save, onClose }: SetSecretProps) {
  const [secret, setSecret] = useState('')
  const change = useChange()
  const submit = async () => {
    if (await change.run(() => save(mode, secret.trim()))) onClose()
  }
  return (
    <Dialog title={`Set the ${mode} secret`} busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={submit}>
        <TextField
          label="Secret"
          hint={`As Supabase shows it: v1,whsec_… What it signs is sent in ${mode} mode${mode === 'test' ? ', into the sandbox' : ''}.`}
          value={secret}
          onInput={setSecret}
          error={change.errorOf('secret')}
          type="password"
          autocomplete="new-password"
          monospace
          required
          autofocus
        />
        <SubmitActions action="Save secret" busy={change.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

// The hooks by which Supabase Auth has its codes delivered: their address, and the secrets of each mode, which are never shown.
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
/** `fingerprint`: null for those that cannot be read, which are kept or removed together. */
interface Row {
  mode: KeyMode
  fingerprint: string | null
}
type OpenDialog = { add: KeyMode } | { remove: Row } | null

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
  } = useQuery(`supabase hook ${id}`, call =>
    bodyOf(api.GET('/admin/v1/apps/{id}/hooks/supabase', { params, ...call })),
  )
  const close = () => setDialog(null)
  const save = async (mode: KeyMode, secrets: string[], said: string): Promise<void> => {
    replace(await bodyOf(api.PUT('/admin/v1/apps/{id}/hooks/supabase', { params, body: { mode, secrets } })))
    say(said)
  }
  const add = (mode: KeyMode, secret: string) =>
    save(mode, [...(hook?.secrets[mode] ?? []), secret], 'The secret is saved.')
  const remove = ({ mode, fingerprint }: Row) =>
    save(
      mode,
      (hook?.secrets[mode] ?? []).filter(one => one !== fingerprint),
      'The secret is removed.',
    )
  return (
    <Card
      title="Supabase Auth"
      lead="Supabase makes its own codes, and Countersign delivers them: by its hooks “Send SMS” and “Send Email”."
    >
      {problem && <ProblemNotice problem={problem} />}
      {hook ? (
        <>
          <CodeBlock label="Address of both hooks" text={`${location.origin}${hook.path}`} />
          <p class="hint">
            Enter it in Supabase under Authentication → Hooks, let Supabase generate a secret for each hook, and give
            both here. Where the API has another address than this page, put that in its place.
          </p>
          {rowsOf(hook).length === 0 ? (
            <p class="soft">No secret is set: calls of Supabase are refused.</p>
          ) : (
            <Table
              caption="Secrets of the hooks"
              columns={columnsOf(may, setDialog)}
              rows={rowsOf(hook)}
              keyOf={({ mode, fingerprint }) => `${mode} ${fingerprint}`}
            />
          )}
          {may && (
            <p>
              {MODES.map(mode => (
                <Button key={mode} look="quiet" onClick={() => setDialog({ add: mode })}>
                  Add a {mode} secret
                </Button>
              ))}
            </p>
          )}
        </>
      ) : (
        !problem && <Loading what="the hooks" />
      )}
      {dialog && 'add' in dialog && <AddSecret mode={dialog.add} add={add} onClose={close} />}
      {dialog && 'remove' in dialog && (
        <Confirm
          title={`Remove the ${nameOf(dialog.remove)}?`}
          action="Remove secret"
          perform={() => remove(dialog.remove)}
          onClose={close}
        >
          <p>Calls of Supabase that it signs are refused within five seconds, and their codes are not delivered.</p>
        </Confirm>
      )}
    </Card>
  )
}

const rowsOf = ({ secrets, unreadable }: Hook): Row[] =>
  MODES.flatMap(mode => [
    ...secrets[mode].map(fingerprint => ({ mode, fingerprint })),
    ...(unreadable.includes(mode) ? [{ mode, fingerprint: null }] : []),
  ])

const nameOf = ({ mode, fingerprint }: Row): string =>
  fingerprint === null ? `${mode} secret that cannot be read` : `${mode} secret ${fingerprint}`

function columnsOf(may: boolean, open: (dialog: OpenDialog) => void): Column<Row>[] {
  const columns: Column<Row>[] = [
    { name: 'Mode', show: ({ mode }) => <ModeBadge of={mode} /> },
    {
      name: 'Secret',
      show: ({ fingerprint }) =>
        fingerprint === null ? (
          'Set, but it cannot be read: its data key is no longer configured. Calls that it signs are refused, and their codes are not sent, until the key is back. It is dropped when a secret of its mode is added or removed.'
        ) : (
          <code>{fingerprint}</code>
        ),
    },
  ]
  if (!may) return columns
  const actions: Column<Row> = {
    name: 'Actions',
    quiet: true,
    show: row => (
      <RowActions>
        <Button look="quiet" aria-label={`Remove the ${nameOf(row)}`} onClick={() => open({ remove: row })}>
          Remove
        </Button>
      </RowActions>
    ),
  }
  return [...columns, actions]
}

interface AddSecretProps {
  mode: KeyMode
  add(mode: KeyMode, secret: string): Promise<void>
  onClose(): void
}

function AddSecret({ mode, add, onClose }: AddSecretProps) {
  const [secret, setSecret] = useState('')
  const change = useChange()
  const submit = async () => {
    if (await change.run(() => add(mode, secret.trim()))) onClose()
  }
  return (
    <Dialog title={`Add a ${mode} secret`} busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={submit}>
        <TextField
          label="Secret"
          hint={`As Supabase shows it: v1,whsec_… What it signs is sent in ${mode} mode${mode === 'test' ? ', into the sandbox' : ''}. Up to four may be set.`}
          value={secret}
          onInput={setSecret}
          error={change.errorOf('secrets')}
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

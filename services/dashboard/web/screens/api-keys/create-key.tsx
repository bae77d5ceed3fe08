// The dialog that creates a key, and shows it this once.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { type Change, useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Actions, Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import {
  type KeyKind,
  type KeyMode,
  KIND_MEANINGS,
  KIND_NAMES,
  KINDS,
  MODE_MEANINGS,
  MODE_NAMES,
  MODES,
  sendCommand,
} from './key-text.ts'
import { ShownOnce } from './shown-once.tsx'

const KIND_OPTIONS = KINDS.map(value => ({ value, label: KIND_NAMES[value] }))
const MODE_OPTIONS = MODES.map(value => ({ value, label: MODE_NAMES[value] }))

export interface CreateKeyProps {
  /** A key that was created and is still shown. */
  created: string | null
  onCreated(key: string): void
  onClose(): void
}

export function CreateKey({ created, onCreated, onClose }: CreateKeyProps) {
  const change = useChange()
  // A key that comes into a closed dialog is lost: it is shown this once. Once it is shown, the buttons leave the dialog at once, although
  // the change ends a moment later; Escape, which is pressed by mistake, does not.
  return (
    <Dialog
      title={created ? 'Copy it now' : 'Create a key'}
      busy={change.busy && created === null}
      staysOnEscape={created !== null}
      onClose={onClose}
    >
      {created ? (
        <Created value={created} onClose={onClose} />
      ) : (
        <Choices change={change} onCreated={onCreated} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface ChoicesProps {
  change: Change
  onCreated(key: string): void
  onClose(): void
}

function Choices({ change, onCreated, onClose }: ChoicesProps) {
  const app = useApp()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<KeyKind>('server')
  const [mode, setMode] = useState<KeyMode>('test')
  const create = () =>
    change.run(async () => {
      const body = { kind, mode, name: name.trim() || null }
      const { key } = await bodyOf(api.POST('/admin/v1/apps/{id}/keys', { params: { path: { id: app.id } }, body }))
      onCreated(key)
    })
  const cannotSend = kind === 'publishable' && mode === 'live' && !app.settings.publishable_send
  return (
    <Form change={change} onSubmit={create}>
      <TextField
        label="Name"
        hint="Helps you to tell your keys apart. You can change it later."
        placeholder="checkout backend"
        value={name}
        onInput={setName}
        error={change.errorOf('name')}
        autofocus
      />
      <Select<KeyKind> label="Kind" hint={KIND_MEANINGS[kind]} options={KIND_OPTIONS} value={kind} onChange={setKind} />
      <Select<KeyMode> label="Mode" hint={MODE_MEANINGS[mode]} options={MODE_OPTIONS} value={mode} onChange={setMode} />
      {cannotSend && (
        <Notice>
          <p>
            This key can verify, but not send: the app does not let publishable keys send in live mode. That is allowed
            under Settings, because anyone who reads such a key could send at your expense.
          </p>
        </Notice>
      )}
      <SubmitActions action="Create" busy={change.busy} onCancel={onClose} />
    </Form>
  )
}

function Created({ value, onClose }: { value: string; onClose(): void }) {
  const mode: KeyMode = /^.k_test_/.test(value) ? 'test' : 'live'
  return (
    <>
      <ShownOnce label="New key" value={value} />
      <Notice tone="warning">
        <p>
          It is shown this once. Countersign keeps only a fingerprint of it: after you close this dialog, it can be
          revoked, but not read again.
        </p>
      </Notice>
      <details class="more">
        <summary>Use it with curl</summary>
        <CodeBlock label="Sends a code" text={sendCommand(location.origin, { key: value, mode })} />
        <p class="hint">
          {mode === 'test' ? (
            <>
              The number belongs to the sandbox: its code is on the screen <ScreenLink to="/try">Try it</ScreenLink>.
            </>
          ) : (
            'Put a number of your own in its place.'
          )}
        </p>
      </details>
      <Actions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </Actions>
    </>
  )
}

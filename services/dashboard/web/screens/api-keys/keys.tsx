// The keys of the app: the list, and what can be done with each.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { useShownOnce } from '../../data/use-shown-once.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Fact } from '../../ui/fact.tsx'
import { Switch } from '../../ui/field.tsx'
import { NameDialog } from '../../ui/name-dialog.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { type Column, RowActions } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { CreateKey } from './create-key.tsx'
import {
  type ApiKey,
  inOrder,
  KIND_MEANINGS,
  KIND_NAMES,
  KINDS,
  MODE_MEANINGS,
  MODE_NAMES,
  MODES,
  maskedKey,
  titleOf,
} from './key-text.ts'
import { ModeBadge } from './mode-badge.tsx'

/** So that a key that was just used says so while one looks. */
const POLL_MS = 5_000

type OpenDialog = { create: true } | { rename: ApiKey } | { revoke: ApiKey } | null

const nameId = (key: ApiKey): string => `name-of-${key.id}`

export function Keys() {
  const app = useApp()
  const mayChange = useMay('developer')
  const say = useToast()
  const [created, keepCreated] = useShownOnce(`new key of ${app.id}`)
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const [showRevoked, setShowRevoked] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const revoked = useRef(false)

  const pages = usePages(
    `keys ${app.id}`,
    (page, call) =>
      bodyOf(api.GET('/admin/v1/apps/{id}/keys', { params: { path: { id: app.id }, query: page }, ...call })),
    { everyMs: POLL_MS },
  )
  const all = pages.data?.items ?? []
  const shown = inOrder(showRevoked ? all : all.filter(key => key.revoked_at === null))
  const close = () => setDialog(null)

  // The button that was pressed is gone with its row, so the focus goes to the list.
  useEffect(() => {
    if (dialog !== null || !revoked.current) return
    revoked.current = false
    list.current?.focus()
  }, [dialog])

  async function revoke(key: ApiKey): Promise<void> {
    await api.DELETE('/admin/v1/keys/{id}', { params: { path: { id: key.id } } })
    await pages.reload()
    revoked.current = true
    say(`${titleOf(key)} is revoked.`)
  }

  async function rename(key: ApiKey, name: string): Promise<void> {
    await api.PATCH('/admin/v1/keys/{id}', { params: { path: { id: key.id } }, body: { name: name.trim() || null } })
    await pages.reload()
  }

  const columns: Column<ApiKey>[] = [
    { name: 'Name', show: key => <KeyName of={key} /> },
    { name: 'Key', show: key => <code>{maskedKey(key)}</code> },
    { name: 'Kind', show: ({ kind }) => KIND_NAMES[kind] },
    { name: 'Mode', show: ({ mode }) => <ModeBadge of={mode} /> },
    { name: 'Created', show: ({ created_at }) => <Time at={created_at} day /> },
    { name: 'Last used', show: ({ last_used_at }) => <Time at={last_used_at} /> },
  ]
  if (mayChange)
    columns.push({
      name: 'Actions',
      quiet: true,
      show: key => (
        <KeyActions of={key} onRename={() => setDialog({ rename: key })} onRevoke={() => setDialog({ revoke: key })} />
      ),
    })

  return (
    <Card
      title="Keys"
      lead={
        mayChange
          ? 'Every call of the API carries a key. A key belongs to this app, and is shown once, when it is created.'
          : `Every call of the API carries a key. ${onlyRole('developer', 'create and revoke keys')}`
      }
      actions={
        <Button look="primary" disabled={!mayChange} onClick={() => setDialog({ create: true })}>
          Create key
        </Button>
      }
    >
      <div ref={list} class="api-keys-list" tabIndex={-1}>
        <PagedTable
          caption="API keys of this app"
          columns={columns}
          pages={{
            ...pages,
            // It is read every few seconds, which need not be seen.
            loading: false,
            data: pages.data && { ...pages.data, items: shown },
          }}
          keyOf={key => key.id}
          empty={
            <Empty title={all.length > 0 ? 'Every key of this app is revoked.' : 'This app has no keys yet.'}>
              {mayChange ? 'Create a test key to try the API: it costs nothing.' : onlyRole('developer', 'create one')}
            </Empty>
          }
        />
      </div>
      <Switch label="Show revoked keys" checked={showRevoked} onChange={setShowRevoked} />
      <Meanings publishableSend={app.settings.publishable_send} />

      {(created !== null || (dialog && 'create' in dialog)) && (
        <CreateKey
          created={created}
          onCreated={key => {
            keepCreated(key)
            void pages.reload()
          }}
          onClose={() => {
            keepCreated(null)
            close()
          }}
        />
      )}
      {dialog && 'rename' in dialog && (
        <NameDialog
          title="Rename"
          hint={
            <>
              Of the key <code>{maskedKey(dialog.rename)}</code>. Calls with it do not change.
            </>
          }
          name={dialog.rename.name ?? ''}
          action="Save name"
          perform={name => rename(dialog.rename, name)}
          onClose={close}
        />
      )}
      {dialog && 'revoke' in dialog && (
        <Confirm
          title={`Revoke ${titleOf(dialog.revoke)}?`}
          action="Revoke key"
          perform={() => revoke(dialog.revoke)}
          onClose={close}
        >
          <p>
            Calls with <code>{maskedKey(dialog.revoke)}</code> are refused within five seconds, for good. It was last
            used: <Time at={dialog.revoke.last_used_at} />.
          </p>
        </Confirm>
      )}
    </Card>
  )
}

function KeyName({ of: key }: { of: ApiKey }) {
  return (
    <span class="api-keys-name">
      <span id={nameId(key)}>
        {key.name ?? (
          <span class="soft">
            Unnamed<span class="unseen"> {maskedKey(key)}</span>
          </span>
        )}
      </span>
      {key.revoked_at && (
        <span class="soft">
          Revoked <Time at={key.revoked_at} day />
        </span>
      )}
    </span>
  )
}

function KeyActions({ of: key, onRename, onRevoke }: { of: ApiKey; onRename(): void; onRevoke(): void }) {
  return (
    <RowActions>
      <Button look="quiet" aria-describedby={nameId(key)} onClick={onRename}>
        Rename
      </Button>
      {key.revoked_at === null && (
        <Button look="quiet danger" aria-describedby={nameId(key)} onClick={onRevoke}>
          Revoke
        </Button>
      )}
    </RowActions>
  )
}

function Meanings({ publishableSend }: { publishableSend: boolean }) {
  return (
    <dl class="api-keys-meanings">
      {KINDS.map(kind => (
        <Fact key={kind} name={KIND_NAMES[kind]}>
          {KIND_MEANINGS[kind]}
          {kind === 'publishable' &&
            ` In live mode it may send only where the app allows it; this app ${publishableSend ? 'does' : 'does not'}.`}
        </Fact>
      ))}
      {MODES.map(mode => (
        <Fact key={mode} name={MODE_NAMES[mode]}>
          {MODE_MEANINGS[mode]}
        </Fact>
      ))}
    </dl>
  )
}

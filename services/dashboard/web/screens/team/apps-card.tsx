// The apps of the company. Developers create, rename, close and reopen them, and owners delete them.
import { useState } from 'preact/hooks'
import { CONSOLE_COMPANY_ID } from '../../../../domain/tenancy/console.ts'
import { api, bodyOf } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { type App, useCompany, useTenant } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { usePages } from '../../data/use-pages.ts'
import { useTenantChoice } from '../../data/use-tenant-choice.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { NameDialog } from '../../ui/name-dialog.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { type Column, RowActions } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { DeleteDialog, isDeletable } from './delete-dialog.tsx'

type Open = { what: 'create' } | { what: 'rename' | 'close' | 'delete'; app: App } | null

const NAME_HINT = 'Your users read it in their messages.'

const nameId = ({ id }: App): string => `name-of-${id}`

export function AppsCard() {
  const company = useCompany()
  const { app: chosen, apps: listed, reload } = useTenant()
  const { chooseApp } = useTenantChoice()
  const mayChange = useMay('developer')
  const mayDelete = useMay('owner') && company.id !== CONSOLE_COMPANY_ID
  const [open, setOpen] = useState<Open>(null)
  const say = useToast()
  const reopening = useChange()
  const close = () => setOpen(null)
  const apps = usePages(`apps of ${company.id}`, (query, call) =>
    bodyOf(api.GET('/admin/v1/companies/{id}/apps', { params: { path: { id: company.id }, query }, ...call })),
  )
  const shown = async (sentence: string) => {
    say(sentence)
    await Promise.all([apps.reload(), reload()])
  }
  const create = async (name: string) => {
    await bodyOf(api.POST('/admin/v1/companies/{id}/apps', { params: { path: { id: company.id } }, body: { name } }))
    await shown(`The app ${name} was created.`)
  }
  const patch = async (app: App, body: { name?: string; closed?: boolean }, sentence: string) => {
    await bodyOf(api.PATCH('/admin/v1/apps/{id}', { params: { path: { id: app.id } }, body }))
    await shown(sentence)
  }
  const remove = async (app: App) => {
    await api.DELETE('/admin/v1/apps/{id}', { params: { path: { id: app.id } } })
    const other = listed.find(({ id }) => id !== app.id)
    // The address may name it.
    if (app.id === chosen?.id && other) chooseApp(other.id)
    await shown(`The app ${app.name} was deleted.`)
  }

  const columns: Column<App>[] = [
    {
      name: 'Name',
      show: app => (
        <span>
          <span id={nameId(app)}>{app.name}</span> {app.id === chosen?.id && <Badge tone="info">Shown now</Badge>}{' '}
          {app.closed_at && <Badge tone="warning">Closed</Badge>}
          {app.closed_at && !isDeletable(app) && (
            <span class="soft team-deletable">
              Can be deleted from <Time at={app.deletable_at} day /> on
            </span>
          )}
        </span>
      ),
    },
    {
      name: 'Id',
      show: app => (
        <span>
          <code>{app.id}</code> <CopyButton text={app.id} label="Copy id" />
        </span>
      ),
    },
    { name: 'Created', show: app => <Time at={app.created_at} day /> },
    {
      name: 'Actions',
      quiet: true,
      align: 'right',
      show: app => (
        <RowActions>
          {app.id !== chosen?.id && (
            <Button look="quiet" aria-describedby={nameId(app)} onClick={() => chooseApp(app.id)}>
              Show this app
            </Button>
          )}
          {mayChange && (
            <Button look="quiet" aria-describedby={nameId(app)} onClick={() => setOpen({ what: 'rename', app })}>
              Rename
            </Button>
          )}
          {mayChange && !app.closed_at && (
            <Button look="quiet danger" aria-describedby={nameId(app)} onClick={() => setOpen({ what: 'close', app })}>
              Close app
            </Button>
          )}
          {mayChange && app.closed_at && (
            <Button
              look="quiet"
              aria-describedby={nameId(app)}
              onClick={() => reopening.run(() => patch(app, { closed: false }, `The app ${app.name} is open again.`))}
            >
              Reopen app
            </Button>
          )}
          {mayDelete && isDeletable(app) && (
            <Button look="quiet danger" aria-describedby={nameId(app)} onClick={() => setOpen({ what: 'delete', app })}>
              Delete app
            </Button>
          )}
        </RowActions>
      ),
    },
  ]
  return (
    <Card
      title="Apps"
      lead={
        mayChange
          ? 'Each app has its own keys, routing, providers and webhook.'
          : `Each app has its own keys, routing, providers and webhook. ${onlyRole('developer', 'create and change apps')}`
      }
      actions={mayChange && <Button onClick={() => setOpen({ what: 'create' })}>Create app</Button>}
    >
      {reopening.problem && <ProblemNotice problem={reopening.problem} />}
      <PagedTable
        caption="apps"
        columns={columns}
        pages={apps}
        keyOf={({ id }) => id}
        empty={<Empty title="There is no app yet.">{mayChange && 'Create one to get its keys.'}</Empty>}
      />
      {open?.what === 'create' && (
        <NameDialog title="Create an app" hint={NAME_HINT} action="Create" perform={create} onClose={close} />
      )}
      {open?.what === 'rename' && (
        <NameDialog
          title={`Rename ${open.app.name}`}
          hint={NAME_HINT}
          name={open.app.name}
          action="Rename"
          perform={name => patch(open.app, { name }, `The app is called ${name} now.`)}
          onClose={close}
        />
      )}
      {open?.what === 'close' && (
        <Confirm
          title={`Close ${open.app.name}?`}
          action="Close this app"
          perform={() => patch(open.app, { closed: true }, `The app ${open.app.name} was closed.`)}
          onClose={close}
        >
          <p>All of its keys are refused within seconds: no code is sent or checked any more.</p>
          <p>
            Its data is kept as long as its settings say. You can reopen it at any time; 30 days after, an owner can
            delete it for good.
          </p>
        </Confirm>
      )}
      {open?.what === 'delete' && (
        <DeleteDialog name={open.app.name} action="Delete this app" perform={() => remove(open.app)} onClose={close}>
          <p>
            Its settings, keys, providers, endpoints, verifications, events and statistics are deleted, within minutes.
            Nothing brings them back.
          </p>
          <p>
            What it has cost stays in the ledger and on statements, and who changed it in the audit log, with its name.
          </p>
        </DeleteDialog>
      )}
    </Card>
  )
}

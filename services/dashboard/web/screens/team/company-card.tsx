// The company itself. Owners rename it, and delete it once it is closed for long enough; operators close and reopen it, and create others.
import { useState } from 'preact/hooks'
import { CONSOLE_COMPANY_ID } from '../../../../domain/tenancy/console.ts'
import { api, bodyOf } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay, useSessionControl } from '../../data/session.tsx'
import { useCompany, useTenant } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { useTenantChoice } from '../../data/use-tenant-choice.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Actions } from '../../ui/dialog.tsx'
import { Fact } from '../../ui/fact.tsx'
import { NameDialog } from '../../ui/name-dialog.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { DeleteDialog, isDeletable } from './delete-dialog.tsx'
import { NumbersDialog } from './numbers-dialog.tsx'

export function CompanyCard() {
  const company = useCompany()
  const { companies, reload } = useTenant()
  const { chooseCompany } = useTenantChoice()
  const { check } = useSessionControl()
  const mayRename = useMay('owner')
  const isOperator = useMay('operator')
  const isConsole = company.id === CONSOLE_COMPANY_ID
  const [open, setOpen] = useState<'create' | 'rename' | 'numbers' | 'close' | 'delete' | null>(null)
  const say = useToast()
  const reopening = useChange()
  const close = () => setOpen(null)

  const patch = async (body: { name?: string; closed?: boolean }, sentence: string) => {
    await bodyOf(api.PATCH('/admin/v1/companies/{id}', { params: { path: { id: company.id } }, body }))
    say(sentence)
    await reload()
  }
  const create = async (name: string) => {
    const { id } = await bodyOf(api.POST('/admin/v1/companies', { body: { name } }))
    say(`The company ${name} was created. Create its first app.`)
    await reload()
    chooseCompany(id)
  }
  const remove = async () => {
    await api.DELETE('/admin/v1/companies/{id}', { params: { path: { id: company.id } } })
    // It was the company of the viewer's session.
    if (!isOperator) return check()
    say(`${company.name} was deleted.`)
    const other = companies.find(({ id }) => id !== company.id && id !== CONSOLE_COMPANY_ID)
    if (other) chooseCompany(other.id)
    await reload()
  }
  return (
    <Card
      title="Company"
      lead={wordsOf({ mayRename, isOperator, isConsole })}
      actions={isOperator && <Button onClick={() => setOpen('create')}>Create company</Button>}
    >
      <dl class="team-facts">
        <Fact name="Name">
          {company.name} {company.closed_at && <Badge tone="warning">Closed</Badge>}
        </Fact>
        <Fact name="Id">
          <code>{company.id}</code> <CopyButton text={company.id} label="Copy id" />
        </Fact>
        <Fact name="Apps and users">
          {company.max_apps} apps and {company.max_users} users at most
        </Fact>
        <Fact name="Created">
          <Time at={company.created_at} day />
        </Fact>
        {company.closed_at && (
          <Fact name="Closed">
            <Time at={company.closed_at} />
          </Fact>
        )}
        {company.closed_at && !isConsole && !isDeletable(company) && (
          <Fact name="Deletable">
            From <Time at={company.deletable_at} day /> on
          </Fact>
        )}
      </dl>
      {reopening.problem && <ProblemNotice problem={reopening.problem} />}
      {mayRename && (
        <Actions>
          <Button onClick={() => setOpen('rename')}>Rename company</Button>
          {isOperator && <Button onClick={() => setOpen('numbers')}>Change numbers</Button>}
          {isOperator && !isConsole && !company.closed_at && (
            <Button look="danger" onClick={() => setOpen('close')}>
              Close company
            </Button>
          )}
          {isOperator && company.closed_at && (
            <Button
              busy={reopening.busy}
              onClick={() => reopening.run(() => patch({ closed: false }, `${company.name} is open again.`))}
            >
              Reopen company
            </Button>
          )}
          {!isConsole && isDeletable(company) && (
            <Button look="danger" onClick={() => setOpen('delete')}>
              Delete company
            </Button>
          )}
        </Actions>
      )}
      {open === 'create' && (
        <NameDialog
          title="Create a company"
          hint="A customer or a team with its own apps, people and balance."
          action="Create"
          perform={create}
          onClose={close}
        />
      )}
      {open === 'rename' && (
        <NameDialog
          title="Rename the company"
          hint="Only users of the dashboard see it."
          name={company.name}
          action="Rename"
          perform={name => patch({ name }, `The company is called ${name} now.`)}
          onClose={close}
        />
      )}
      {open === 'numbers' && <NumbersDialog company={company} onDone={reload} onClose={close} />}
      {open === 'close' && (
        <Confirm
          title={`Close ${company.name}?`}
          action="Close this company"
          perform={() => patch({ closed: true }, `${company.name} was closed.`)}
          onClose={close}
        >
          <p>The keys of all its apps are refused within seconds: no code is sent or checked any more.</p>
          <p>Its people can still sign in and read. Its data is kept; you can reopen it at any time.</p>
          <p>30 days after, you or an owner can delete it for good.</p>
        </Confirm>
      )}
      {open === 'delete' && (
        <DeleteDialog name={company.name} action="Delete this company" perform={remove} onClose={close}>
          <p>
            All of its apps are deleted with what belongs to them, and its people with their sessions. What is left of
            its balance is not paid out. Nothing brings them back.
          </p>
          <p>Its ledger and its audit log stay, for the operators of this deployment.</p>
          {!isOperator && <p>You are signed out at once.</p>}
        </DeleteDialog>
      )}
    </Card>
  )
}

function wordsOf(may: { mayRename: boolean; isOperator: boolean; isConsole: boolean }): string | undefined {
  if (may.isConsole) return 'It sends the codes with which people sign in to this dashboard, so it stays open.'
  if (may.isOperator) return undefined
  const closing = onlyRole('operator', 'close and reopen a company')
  return may.mayRename ? closing : `${onlyRole('owner', 'rename it')} ${closing}`
}

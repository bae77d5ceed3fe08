// The choice of company, for operators and for people in several, and of app. A long list is searched in a dialog.
import { useLocation } from 'preact-iso'
import { api, bodyOf } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import { useMe, useSessionControl } from '../data/session.tsx'
import { useTenant } from '../data/tenant.tsx'
import { useChange } from '../data/use-change.ts'
import { useTenantChoice } from '../data/use-tenant-choice.ts'
import { useToast } from '../ui/toasts.tsx'
import { type Choice, SearchableChoice, type SearchableChoiceProps } from './searchable-choice.tsx'
import './tenant-picker.css'

/** More are tiresome to scroll through. */
const MAX_IN_A_SELECT = 30

export function TenantPicker() {
  const { role, memberships } = useMe()
  const { companies, company, apps, app } = useTenant()
  const { chooseCompany, chooseApp } = useTenantChoice()
  return (
    <div class="tenant">
      {role === 'operator' && company && (
        <Picker
          label="Company"
          title="Choose a company"
          choices={companies}
          chosen={company}
          onChoose={chooseCompany}
          readPage={query => bodyOf(api.GET('/admin/v1/companies', { params: { query } }))}
        />
      )}
      {role !== 'operator' && company && memberships.length > 1 && <MembershipChoice current={company.id} />}
      {company && app && (
        <Picker
          label="App"
          title="Choose an app"
          choices={apps}
          chosen={app}
          onChoose={chooseApp}
          readPage={query =>
            bodyOf(api.GET('/admin/v1/companies/{id}/apps', { params: { path: { id: company.id }, query } }))
          }
        />
      )}
    </div>
  )
}

/** A session acts in one company: choosing another begins a session there. */
function MembershipChoice({ current }: { current: string }) {
  const { memberships } = useMe()
  const { begin } = useSessionControl()
  const { route } = useLocation()
  const say = useToast()
  const change = useChange()
  const choose = (company_id: string) =>
    change.run(async () => {
      const me = await bodyOf(api.POST('/admin/v1/me/company', { body: { company_id } })).catch(thrown => {
        say(Problem.from(thrown).detail)
        throw thrown
      })
      route('/overview')
      begin(me)
    })
  return (
    <select
      aria-label="Company"
      value={current}
      // A disabled choice would lose the focus. A second one is not made while the first is under way.
      aria-disabled={change.busy ? true : undefined}
      onChange={event => choose(event.currentTarget.value)}
    >
      {memberships.map(({ company_id, company_name }) => (
        <option key={company_id} value={company_id}>
          {company_name}
        </option>
      ))}
    </select>
  )
}

interface PickerProps extends SearchableChoiceProps {
  /** The first ones. */
  choices: readonly Choice[]
}

function Picker({ choices, ...search }: PickerProps) {
  const { label, chosen, onChoose } = search
  if (choices.length > MAX_IN_A_SELECT) return <SearchableChoice {...search} />
  return (
    <select aria-label={label} value={chosen.id} onChange={event => onChoose(event.currentTarget.value)}>
      {choices.map(({ id, name, closed_at }) => (
        <option key={id} value={id}>
          {closed_at ? `${name} (closed)` : name}
        </option>
      ))}
    </select>
  )
}

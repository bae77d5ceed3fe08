// The choice of company (operators see several) and of app. A long list is searched in a dialog.
import { api, bodyOf } from '../api/client.ts'
import { useMe } from '../data/session.tsx'
import { useTenant } from '../data/tenant.tsx'
import { useTenantChoice } from '../data/use-tenant-choice.ts'
import { type Choice, SearchableChoice } from './searchable-choice.tsx'
import './tenant-picker.css'

/** More are tiresome to scroll through. */
const MAX_IN_A_SELECT = 30

export function TenantPicker() {
  const { role } = useMe()
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

interface PickerProps {
  label: string
  title: string
  /** The first ones. */
  choices: readonly Choice[]
  chosen: Choice
  onChoose(id: string): void
  readPage(query: { limit: number; cursor?: string }): Promise<{ items: Choice[]; next_cursor: string | null }>
}

function Picker({ label, title, choices, chosen, onChoose, readPage }: PickerProps) {
  if (choices.length > MAX_IN_A_SELECT)
    return <SearchableChoice label={label} title={title} chosen={chosen} onChoose={onChoose} readPage={readPage} />
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

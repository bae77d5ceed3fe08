// The choice of company (operators see several) and of app.
import { useMe } from '../data/session.tsx'
import { useTenant } from '../data/tenant.tsx'

export function TenantPicker() {
  const { role } = useMe()
  const { companies, company, apps, app, chooseCompany, chooseApp } = useTenant()
  return (
    <div class="tenant">
      {role === 'operator' && company && (
        <select aria-label="Company" value={company.id} onChange={event => chooseCompany(event.currentTarget.value)}>
          {companies.map(({ id, name, closed_at }) => (
            <option key={id} value={id}>
              {closed_at ? `${name} (closed)` : name}
            </option>
          ))}
        </select>
      )}
      {app && (
        <select aria-label="App" value={app.id} onChange={event => chooseApp(event.currentTarget.value)}>
          {apps.map(({ id, name, closed_at }) => (
            <option key={id} value={id}>
              {closed_at ? `${name} (closed)` : name}
            </option>
          ))}
        </select>
      )}
    </div>
  )
}

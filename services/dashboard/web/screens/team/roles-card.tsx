// The roles, explained.
import { Card } from '../../ui/card.tsx'
import { ROLE_WORDS } from './roles.ts'

export function RolesCard() {
  return (
    <Card title="What each role may do">
      <dl class="team-roles">
        {ROLE_WORDS.map(({ value, label, hint }) => (
          <div key={value}>
            <dt>{label}</dt>
            <dd>{hint}</dd>
          </div>
        ))}
        <div>
          <dt>Operator</dt>
          <dd>Runs this deployment and may do everything in every company. Operators are not members of a team.</dd>
        </div>
      </dl>
    </Card>
  )
}

// The roles, explained.
import { Card } from '../../ui/card.tsx'
import { Fact } from '../../ui/fact.tsx'
import { ROLE_WORDS } from './roles.ts'

export function RolesCard() {
  return (
    <Card title="What each role may do">
      <dl class="team-roles">
        {ROLE_WORDS.map(({ value, label, hint }) => (
          <Fact key={value} name={label}>
            {hint}
          </Fact>
        ))}
        <Fact name="Operator">
          Runs this deployment and may do everything in every company. Operators are not members of a team.
        </Fact>
      </dl>
    </Card>
  )
}

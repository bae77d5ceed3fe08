// Who may use the dashboard, the apps and the name of the company, its notices, and the viewer's own passkeys and sessions.
import { Screen } from '../../ui/screen.tsx'
import { AppsCard } from './apps-card.tsx'
import { CompanyCard } from './company-card.tsx'
import { NoticesCard } from './notices-card.tsx'
import { PasskeysCard } from './passkeys-card.tsx'
import { PeopleCard } from './people-card.tsx'
import { RolesCard } from './roles-card.tsx'
import { SessionsCard } from './sessions-card.tsx'
import './team.css'

export default function Team() {
  return (
    <Screen title="Team" lead="The people of this company, its apps and notices, and your own passkeys and sessions.">
      <PeopleCard />
      <AppsCard />
      <div class="columns">
        <CompanyCard />
        <RolesCard />
      </div>
      <NoticesCard />
      <PasskeysCard />
      <SessionsCard />
    </Screen>
  )
}

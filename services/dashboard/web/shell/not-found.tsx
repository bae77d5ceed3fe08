import { Screen } from '../ui/screen.tsx'
import { ScreenLink } from '../ui/screen-link.tsx'

export function NotFound() {
  return (
    <Screen title="There is no such page">
      <p>
        <ScreenLink to="/overview">Go to the overview</ScreenLink>
      </p>
    </Screen>
  )
}

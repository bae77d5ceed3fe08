import { Screen } from '../ui/screen.tsx'

export function NotFound() {
  return (
    <Screen title="There is no such page">
      <p>
        <a href="/overview">Go to the overview</a>
      </p>
    </Screen>
  )
}

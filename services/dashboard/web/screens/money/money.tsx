import { Screen } from '../../ui/screen.tsx'

export default function Money() {
  return (
    <Screen title="Money">
      <p>Not built yet.</p>
    </Screen>
  )
}

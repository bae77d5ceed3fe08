import { Screen } from '../../ui/screen.tsx'

export default function Privacy() {
  return (
    <Screen title="Privacy">
      <p>Not built yet.</p>
    </Screen>
  )
}

import { Screen } from '../../ui/screen.tsx'

export default function Team() {
  return (
    <Screen title="Team">
      <p>Not built yet.</p>
    </Screen>
  )
}

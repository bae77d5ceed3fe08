import { Screen } from '../../ui/screen.tsx'

export default function Verifications() {
  return (
    <Screen title="Verifications">
      <p>Not built yet.</p>
    </Screen>
  )
}

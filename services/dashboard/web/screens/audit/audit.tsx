import { Screen } from '../../ui/screen.tsx'

export default function Audit() {
  return (
    <Screen title="Audit">
      <p>Not built yet.</p>
    </Screen>
  )
}

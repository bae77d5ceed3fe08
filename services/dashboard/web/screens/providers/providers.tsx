import { Screen } from '../../ui/screen.tsx'

export default function Providers() {
  return (
    <Screen title="Providers">
      <p>Not built yet.</p>
    </Screen>
  )
}

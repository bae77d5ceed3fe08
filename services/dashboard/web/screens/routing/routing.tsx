import { Screen } from '../../ui/screen.tsx'

export default function Routing() {
  return (
    <Screen title="Routing">
      <p>Not built yet.</p>
    </Screen>
  )
}

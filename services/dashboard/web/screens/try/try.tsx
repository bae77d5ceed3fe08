import { Screen } from '../../ui/screen.tsx'

export default function TryIt() {
  return (
    <Screen title="Try it">
      <p>Not built yet.</p>
    </Screen>
  )
}

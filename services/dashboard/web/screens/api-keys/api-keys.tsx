import { Screen } from '../../ui/screen.tsx'

export default function ApiKeys() {
  return (
    <Screen title="API Keys">
      <p>Not built yet.</p>
    </Screen>
  )
}

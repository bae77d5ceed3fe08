import { Screen } from '../../ui/screen.tsx'

export default function Limits() {
  return (
    <Screen title="Limits and fraud">
      <p>Not built yet.</p>
    </Screen>
  )
}

import { Screen } from '../../ui/screen.tsx'

export default function Overview() {
  return (
    <Screen title="Overview">
      <p>Not built yet.</p>
    </Screen>
  )
}

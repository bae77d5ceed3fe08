import { Screen } from '../../ui/screen.tsx'

export default function Queues() {
  return (
    <Screen title="Queues">
      <p>Not built yet.</p>
    </Screen>
  )
}

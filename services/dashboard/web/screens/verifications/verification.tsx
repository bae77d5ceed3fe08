import { Screen } from '../../ui/screen.tsx'

export default function Verification() {
  return (
    <Screen title="Verification">
      <p>Not built yet.</p>
    </Screen>
  )
}

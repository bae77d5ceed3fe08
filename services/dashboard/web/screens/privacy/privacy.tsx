// Privacy: export or erase a person's data, decide how long data is kept, and see the keys that seal it.
import { useMay } from '../../data/session.tsx'
import { Screen } from '../../ui/screen.tsx'
import { DataKeys } from './data-keys.tsx'
import { Erase } from './erase.tsx'
import { Retention } from './retention.tsx'
import './privacy.css'

export default function Privacy() {
  const isOperator = useMay('operator')
  return (
    <Screen
      title="Privacy"
      lead="What is kept about a person, for how long, and how to export or erase it. Codes are never stored."
    >
      <Erase />
      <div class="columns">
        <Retention />
        {isOperator && <DataKeys />}
      </div>
    </Screen>
  )
}

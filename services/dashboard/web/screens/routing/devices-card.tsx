// What apps and web pages may do with a publishable key, which anyone can read in them.
import { lines } from '../../data/notation.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { Switch } from '../../ui/field.tsx'
import { TypedArea } from '../../ui/typed-field.tsx'

export function DevicesCard({ draft, may }: { draft: SettingsDraft; may: boolean }) {
  const { settings, set } = draft
  return (
    <Card title="Devices" lead="Apps and web pages use publishable keys, which anyone can read in them.">
      <Editable may={may}>
        <Switch
          label="Publishable keys may send in live mode"
          hint="Test keys always may. While this is on, the fraud guard refuses unless you have set it otherwise: see Limits and fraud."
          checked={settings.publishable_send}
          onChange={allowed => set('publishable_send', allowed)}
          error={draft.errorOf('publishable_send')}
        />
        <TypedArea
          label="Allowed origins"
          hint="The web pages that may use publishable keys, one per line, such as https://shop.example. Empty: all."
          rows={3}
          monospace
          notation={lines}
          value={settings.allowed_origins}
          onInput={origins => set('allowed_origins', typeof origins === 'string' ? [origins] : origins)}
          error={draft.errorUnder('allowed_origins')}
        />
      </Editable>
    </Card>
  )
}

// What apps and web pages may do with a publishable key, which anyone can read in them.
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { SettingField } from '../../ui/setting-field.tsx'

const DEVICE_SETTINGS = ['publishable_send', 'allowed_origins'] as const

export const DevicesCard = ({ draft }: { draft: SettingsDraft }) => (
  <Card title="Devices" lead="Apps and web pages use publishable keys, which anyone can read in them.">
    <Editable>
      {DEVICE_SETTINGS.map(path => (
        <SettingField key={path} draft={draft} path={path} />
      ))}
    </Editable>
  </Card>
)

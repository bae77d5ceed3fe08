// Which kinds of numbers are refused, and whether text messages go to fixed lines.
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { SettingField } from '../../ui/setting-field.tsx'

export const NumberKindsCard = ({ draft }: { draft: SettingsDraft }) => (
  <Card
    title="Kinds of numbers"
    lead="The numbering plan of a country says what kind a number is. Mobile numbers are never refused for their kind."
  >
    <Editable>
      <div class="limits-countries">
        <SettingField draft={draft} path="number_kinds.refused" />
        <SettingField draft={draft} path="number_kinds.fixed_line" />
      </div>
    </Editable>
  </Card>
)

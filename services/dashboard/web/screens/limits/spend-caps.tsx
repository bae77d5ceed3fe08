// How much may be spent on a country in a day, in units of the currency of the prices.
import { labelOf } from '../../data/setting-words.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { CountryAmounts } from '../../ui/country-amounts.tsx'
import { Editable } from '../../ui/editable.tsx'

const WORDS = {
  none: 'There is no cap: a country may cost as much as the balance allows.',
  per: 'a day',
  one: 'the cap',
  field: 'Cap a country',
  add: 'Add cap',
  addOthers: 'Cap each other country',
  example: '25.00',
}

export function SpendCaps({ draft }: { draft: SettingsDraft }) {
  return (
    <Card
      title={labelOf('spend_caps')}
      lead="What may be spent on a country in a day (UTC), exactly, however many sends come at once. Beyond it sends are refused until midnight UTC. Messages without a price, and email, have no cap."
    >
      <Editable>
        <CountryAmounts
          amounts={draft.settings.spend_caps}
          // What is no amount yet is refused by the server, and said beside its field.
          onChange={caps => draft.set('spend_caps', caps as Record<string, number>)}
          words={WORDS}
          errorOf={code => draft.errorOf(`spend_caps.${code}`)}
        />
      </Editable>
    </Card>
  )
}

// How much may be spent on a country in a day, in units of the currency of the prices.
import { useRef } from 'preact/hooks'
import { countryName, sortedByName } from '../../data/countries.ts'
import { labelOf } from '../../data/setting-words.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CountryField } from '../../ui/country-field.tsx'
import { Editable } from '../../ui/editable.tsx'
import { TypedField } from '../../ui/typed-field.tsx'
import { amount } from './amount.ts'

/** Each country without a cap of its own. */
const OTHERS = '*'

const nameOf = (code: string): string => (code === OTHERS ? 'Each other country' : countryName(code))

export function SpendCaps({ draft, may }: { draft: SettingsDraft; may: boolean }) {
  const { spend_caps: caps } = draft.settings
  const frame = useRef<HTMLDivElement>(null)
  const countries = sortedByName(Object.keys(caps).filter(code => code !== OTHERS))
  const codes = OTHERS in caps ? [...countries, OTHERS] : countries
  const set = (code: string, micros: number | string): void => draft.set('spend_caps', { ...caps, [code]: micros })
  function remove(code: string): void {
    draft.set('spend_caps', Object.fromEntries(Object.entries(caps).filter(([one]) => one !== code)))
    frame.current?.querySelector('input')?.focus()
  }
  return (
    <Card
      title={labelOf('spend_caps')}
      lead="What may be spent on a country in a day (UTC), exactly, however many sends come at once. Beyond it sends are refused until midnight UTC. Messages without a price, and email, have no cap."
    >
      <Editable may={may}>
        <div class="limits-part" ref={frame}>
          {codes.length === 0 && <p class="hint">There is no cap: a country may cost as much as the balance allows.</p>}
          {codes.map(code => (
            <div key={code} class="limits-cap">
              <TypedField
                label={`${nameOf(code)}, a day`}
                inputMode="numeric"
                placeholder="25.00"
                notation={amount}
                value={caps[code] ?? ''}
                onInput={micros => set(code, micros)}
                error={draft.errorOf(`spend_caps.${code}`)}
                refusal="Must be an amount, such as 25 or 0.50."
              />
              <Button look="quiet" aria-label={`Remove the cap of ${nameOf(code)}`} onClick={() => remove(code)}>
                Remove
              </Button>
            </div>
          ))}
          <div class="limits-add-cap">
            <CountryField label="Cap a country" action="Add cap" chosen={codes} onChoose={code => set(code, '')} />
            {!(OTHERS in caps) && <Button onClick={() => set(OTHERS, '')}>Cap each other country</Button>}
          </div>
        </div>
      </Editable>
    </Card>
  )
}

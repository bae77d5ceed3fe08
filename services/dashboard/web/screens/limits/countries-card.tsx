// To which countries codes are sent: all or only some, and never to the blocked ones.
import { useState } from 'preact/hooks'
import { sortedByName } from '../../data/countries.ts'
import { labelOf } from '../../data/setting-words.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { CountryField, CountryTags } from '../../ui/country-field.tsx'
import { Editable } from '../../ui/editable.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'

const CHOICES = [
  { value: 'all', label: 'Every country', hint: 'Except the blocked ones below.' },
  {
    value: 'some',
    label: 'Only these countries',
    hint: 'Numbers of other countries, and of none, such as satellite phones, are refused.',
  },
] as const

export function CountriesCard({ draft }: { draft: SettingsDraft }) {
  const { allowed_countries: allowed, blocked_countries: blocked } = draft.settings
  // Kept while the other choice is looked at.
  const [before, setBefore] = useState<string[]>([])
  return (
    <Card
      title="Countries"
      lead="A number’s country comes from its numbering plan: +44 7911 123456 is Guernsey’s, not Britain’s. Email has no country and is never blocked."
    >
      <Editable>
        <div class="limits-countries">
          <div class="limits-part">
            <RadioGroup
              label="Codes are sent to"
              value={allowed === null ? 'all' : 'some'}
              options={CHOICES}
              onChange={choice => {
                setBefore(allowed ?? before)
                draft.set('allowed_countries', choice === 'all' ? null : before)
              }}
            />
            {allowed !== null && (
              <>
                <CountryTags
                  label={labelOf('allowed_countries')}
                  codes={sortedByName(allowed)}
                  onRemove={code =>
                    draft.set(
                      'allowed_countries',
                      allowed.filter(one => one !== code),
                    )
                  }
                />
                {allowed.length === 0 && <p class="error">No country is listed yet, so every number is refused.</p>}
                <CountryField
                  label="Allow a country"
                  action="Allow"
                  chosen={allowed}
                  onChoose={code => draft.set('allowed_countries', [...allowed, code])}
                />
              </>
            )}
            <Words of={draft.errorUnder('allowed_countries')} />
          </div>
          <div class="limits-part">
            <CountryField
              label="Block a country"
              action="Block"
              chosen={blocked}
              onChoose={code => draft.set('blocked_countries', [...blocked, code])}
            />
            {blocked.length === 0 ? (
              <p class="hint">No country is blocked.</p>
            ) : (
              <CountryTags
                label={labelOf('blocked_countries')}
                codes={sortedByName(blocked)}
                onRemove={code =>
                  draft.set(
                    'blocked_countries',
                    blocked.filter(one => one !== code),
                  )
                }
              />
            )}
            <Words of={draft.errorUnder('blocked_countries')} />
          </div>
        </div>
      </Editable>
    </Card>
  )
}

const Words = ({ of }: { of: string | undefined }) => (of ? <p class="error">{of}</p> : null)

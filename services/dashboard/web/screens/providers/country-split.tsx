// "Vonage for India, Twilio for the rest": one country goes to one provider of the channel, the others to the rest. In: the providers of a
// channel. Out: the provider and the country that were chosen.
import { useState } from 'preact/hooks'
import { CountryField } from '../../ui/country-field.tsx'
import { Select } from '../../ui/field.tsx'
import type { Provider } from './provider-calls.ts'
import { splittable } from './provider-order.ts'

export interface CountrySplitProps {
  providers: readonly Provider[]
  onSplit(name: string, country: string): void
}

export function CountrySplit({ providers, onSplit }: CountrySplitProps) {
  const choices = splittable(providers)
  const [chosen, setChosen] = useState<string | null>(null)
  const provider = choices.find(({ name }) => name === chosen) ?? choices[0]
  if (provider === undefined) return null
  return (
    <details class="more">
      <summary>Use one provider for a country</summary>
      <div class="providers-split">
        <Select
          label="Provider"
          value={provider.name}
          options={choices.map(({ name }) => ({ value: name, label: name }))}
          onChange={setChosen}
        />
        <CountryField
          label="Country"
          action="Use it there"
          chosen={provider.countries ?? []}
          onChoose={country => onSplit(provider.name, country)}
        />
      </div>
      <p class="hint">
        It is then the first for numbers of its countries, and serves no others. The other providers serve the rest, and
        take over where it fails.
      </p>
    </details>
  )
}

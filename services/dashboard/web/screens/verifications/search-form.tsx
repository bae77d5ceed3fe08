// What to look for. In: the search of the address. Out: a new address, at once for a choice, and on Enter or "Search"
// for a text. The id of a verification goes straight to it.

import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { CHANNELS } from '../../../../../machines/channels.ts'
import { SAMPLE_NUMBER_SPACED } from '../../../../../machines/sample-number.ts'
import { verificationPath } from '../../../screens.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { COUNTRY_CODES, countryName } from '../../data/countries.ts'
import { timeIn, toLocalField } from '../../data/local-field.ts'
import { useAddress } from '../../data/tenant.tsx'
import { anyOf } from '../../data/use-address-filters.ts'
import { Button } from '../../ui/button.tsx'
import { Select, Switch, TextField } from '../../ui/field.tsx'
import { REFUSAL_TYPES, refusalWords } from './refusal-words.ts'
import {
  addressOf,
  DELIVERIES,
  EMPTY_SEARCH,
  isFiltered,
  MODES,
  metadataQuery,
  otpIdIn,
  type Search,
  STATUSES,
} from './search.ts'

/** The choices that filter verifications. */
const CHOICES = [
  { name: 'status', label: 'Status', options: anyOf(STATUSES) },
  { name: 'channel', label: 'Channel', options: anyOf(CHANNELS, value => CHANNEL_NAMES[value]) },
  {
    name: 'country',
    label: 'Country',
    options: anyOf(COUNTRY_CODES, value => `${countryName(value)} (${value})`),
  },
  { name: 'mode', label: 'Mode', options: anyOf(MODES) },
  { name: 'delivery', label: 'Last message', options: anyOf(DELIVERIES) },
] as const
const TYPE_OPTIONS = anyOf(REFUSAL_TYPES, value => `${refusalWords(value, null).title} (${value})`)

/** There the filters would push the list off the screen. */
const NARROW = '(max-width: 640px)'

export function SearchForm({ search, appName }: { search: Search; appName: string }) {
  const { route } = useLocation()
  const inApp = useAddress()
  const [text, setText] = useState(search.recipient)
  const [since, setSince] = useState(toLocalField(search.since))
  const [until, setUntil] = useState(toLocalField(search.until))
  const [metadata, setMetadata] = useState(search.metadata)
  const isMetadata = metadata === '' || metadataQuery(metadata) !== null
  // Back and shared links change the address without this form.
  useEffect(() => {
    setText(search.recipient)
    setSince(toLocalField(search.since))
    setUntil(toLocalField(search.until))
    setMetadata(search.metadata)
  }, [search.recipient, search.since, search.until, search.metadata])

  const typed = (): Search => ({
    ...search,
    recipient: text,
    metadata: isMetadata ? metadata : search.metadata,
    since: timeIn(since, search.since),
    until: timeIn(until, search.until),
  })
  function go(next: Search): void {
    const address = addressOf(next)
    if (address !== addressOf(search)) route(inApp(address))
  }
  function submit(): void {
    const otp_id = otpIdIn(text)
    if (otp_id) route(inApp(verificationPath(otp_id)))
    else go(typed())
  }
  /** As in FilterForm: the button goes with the filters, and the focus with it, so the fields must be empty before. */
  function clear(): void {
    setText('')
    setSince('')
    setUntil('')
    setMetadata('')
    go({ ...EMPTY_SEARCH, tab: search.tab, allApps: search.allApps })
  }
  const isRefusals = search.tab === 'refusals'
  const [filtersOpen, setFiltersOpen] = useState(() => isFiltered(search) || !matchMedia(NARROW).matches)
  return (
    <search aria-label={isRefusals ? 'Refusals' : 'Verifications'}>
      <form
        class="verifications-search"
        onSubmit={event => {
          event.preventDefault()
          submit()
        }}
      >
        <div class="verifications-search-text">
          <TextField
            label={isRefusals ? 'Recipient' : 'Recipient or id'}
            type="search"
            value={text}
            placeholder={isRefusals ? SAMPLE_NUMBER_SPACED : `${SAMPLE_NUMBER_SPACED}, ada@example.com, otp_…`}
            onInput={setText}
          />
          <Button look="primary" type="submit">
            Search
          </Button>
          <Switch
            label="All apps"
            hint={search.allApps ? 'Now: every app.' : `Now: ${appName} alone.`}
            checked={search.allApps}
            onChange={allApps => go({ ...typed(), allApps })}
          />
        </div>
        <details
          class="more verifications-more"
          open={filtersOpen}
          onToggle={event => setFiltersOpen(event.currentTarget.open)}
        >
          <summary>Filters</summary>
          {/* Texts and times are used when the viewer leaves them: a year is typed digit by digit, and each would be a search. */}
          <div class="verifications-filters" onFocusOut={() => go({ ...typed(), recipient: search.recipient })}>
            {isRefusals ? (
              <Select
                label="Type"
                value={search.type}
                options={TYPE_OPTIONS}
                onChange={type => go({ ...typed(), type })}
              />
            ) : (
              <>
                {CHOICES.map(({ name, label, options }) => (
                  <Select<string>
                    key={name}
                    label={label}
                    value={search[name]}
                    options={options}
                    onChange={value => go({ ...typed(), [name]: value })}
                  />
                ))}
                <TextField
                  label="Metadata"
                  value={metadata}
                  placeholder="order=A-1042"
                  error={isMetadata ? undefined : 'Write name=value.'}
                  onInput={setMetadata}
                />
              </>
            )}
            <TextField label="Since" type="datetime-local" value={since} onInput={setSince} />
            <TextField label="Until" type="datetime-local" value={until} onInput={setUntil} />
            {isFiltered(search) && (
              <Button look="quiet" onClick={clear}>
                Clear filters
              </Button>
            )}
          </div>
        </details>
      </form>
    </search>
  )
}

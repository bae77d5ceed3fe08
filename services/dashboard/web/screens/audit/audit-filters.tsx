// Which records of the audit log are shown. A choice is used at once, a text or a time when the viewer leaves it.
import { useState } from 'preact/hooks'
import { fromLocalField } from '../../data/local-field.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { actionWords, KNOWN_ACTIONS } from './words.ts'

export interface AuditFilter {
  who?: string
  action?: string
  since?: string
  until?: string
}

const ACTION_OPTIONS = [
  { value: '', label: 'Any' },
  ...KNOWN_ACTIONS.map(value => ({ value, label: `${actionWords(value)} (${value})` })),
]

const EMPTY = { who: '', action: '', since: '', until: '' }

export function AuditFilters({ onChange }: { onChange(filter: AuditFilter): void }) {
  const [fields, setFields] = useState(EMPTY)
  const use = (changed: typeof EMPTY) => {
    const { who, action, since, until } = changed
    const [from, to] = [fromLocalField(since), fromLocalField(until)]
    onChange({
      ...(who.trim() === '' ? {} : { who: who.trim() }),
      ...(action === '' ? {} : { action }),
      ...(from === '' ? {} : { since: from }),
      ...(to === '' ? {} : { until: to }),
    })
  }
  const set = (changed: Partial<typeof EMPTY>) => setFields(old => ({ ...old, ...changed }))
  return (
    <form
      class="audit-filters"
      aria-label="Filters"
      onFocusOut={() => use(fields)}
      onSubmit={event => {
        event.preventDefault()
        use(fields)
      }}
    >
      <Select
        label="Action"
        value={fields.action}
        options={ACTION_OPTIONS}
        onChange={action => {
          set({ action })
          use({ ...fields, action })
        }}
      />
      <TextField label="Who" value={fields.who} placeholder="ann, usr_…" onInput={who => set({ who })} />
      <TextField label="Since" type="datetime-local" value={fields.since} onInput={since => set({ since })} />
      <TextField label="Until" type="datetime-local" value={fields.until} onInput={until => set({ until })} />
      <Button type="submit">Filter</Button>
    </form>
  )
}

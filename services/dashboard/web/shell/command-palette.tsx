// The command palette: Ctrl-K or ⌘-K, type a few letters, Enter. It opens screens, chooses apps and companies, and searches verifications.

import { useEffect, useId, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { screensFor } from '../../screens.ts'
import { api, bodyOf } from '../api/client.ts'
import { useMe } from '../data/session.tsx'
import { useAddress, useTenant } from '../data/tenant.tsx'
import { useTenantChoice } from '../data/use-tenant-choice.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { type PaletteEntry, paletteEntries } from './palette-entries.ts'
import { useAllPages } from './use-all-pages.ts'
import './command-palette.css'

/** The button that opens it, and the palette while it is open. */
export function CommandPalette() {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <Button look="quiet" aria-keyshortcuts="Control+K Meta+K" onClick={() => setOpen(true)}>
        Go to…{' '}
        <span class="kbd" aria-hidden="true">
          Ctrl K
        </span>
      </Button>
      {open && <Palette onClose={() => setOpen(false)} />}
    </>
  )
}

function Palette({ onClose }: { onClose(): void }) {
  const { route } = useLocation()
  const { role } = useMe()
  const { apps } = useTenant()
  const { chooseApp, chooseCompany } = useTenantChoice()
  const addressOf = useAddress()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const listId = useId()
  const screens = screensFor(role)
  // All of them, also those behind the end of the shell's own list. A user has one company, which is shown.
  const companies = useAllPages<{ id: string; name: string }>(
    role === 'operator' ? query => bodyOf(api.GET('/admin/v1/companies', { params: { query } })) : null,
  )
  const source = { screens, apps, companies: companies.items }
  const entries = paletteEntries(typed, source)
  const asked = role === 'operator' ? 'Company, screen, app, recipient or id' : 'Screen, app, recipient or id'

  function go(entry: PaletteEntry | undefined): void {
    if (!entry) return
    onClose()
    if (entry.appId) chooseApp(entry.appId)
    else if (entry.companyId) chooseCompany(entry.companyId)
    // The reference is a page of its own, which this page's router does not know.
    else if (entry.path === '/docs') location.assign('/docs')
    else if (entry.path) route(addressOf(entry.path))
  }
  function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLInputElement }): void {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((chosen + step + entries.length) % Math.max(entries.length, 1))
    }
    // What is in the field, which may be newer than what was last rendered.
    if (event.key === 'Enter') go(paletteEntries(event.currentTarget.value, source)[chosen])
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={asked}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries[chosen] && `${listId}-${chosen}`}
        placeholder={asked}
        autocomplete="off"
        autofocus
        value={typed}
        onInput={event => {
          setTyped(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} class="palette" role="listbox" aria-label="Entries">
        {entries.map((entry, at) => (
          <div
            key={entry.id}
            id={`${listId}-${at}`}
            role="option"
            aria-selected={at === chosen}
            tabIndex={-1}
            onClick={() => go(entry)}
            onKeyDown={event => event.key === 'Enter' && go(entry)}
          >
            {entry.name} <span class="soft">{entry.hint}</span>
          </div>
        ))}
      </div>
    </Dialog>
  )
}

// Verifications: search by recipient or id, with filters that live in the address; and the sends that were refused.
import { useLocation } from 'preact-iso'
import { useAddress, useApp } from '../../data/tenant.tsx'
import { Screen } from '../../ui/screen.tsx'
import { RefusalList } from './refusal-list.tsx'
import { addressOf, readSearch, type Search, type Tab } from './search.ts'
import { SearchForm } from './search-form.tsx'
import { Tabs } from './tabs.tsx'
import { VerificationList } from './verification-list.tsx'
import './verifications.css'

export default function Verifications() {
  const { query } = useLocation()
  const app = useApp()
  const inApp = useAddress()
  const search = readSearch(query)
  return (
    <Screen title="Verifications" lead="Every code that was sent, or refused, and why it did or did not arrive.">
      <Tabs label="Lists" tabs={tabsOf(search).map(tab => ({ ...tab, href: inApp(tab.href) }))} chosen={search.tab}>
        <SearchForm key={search.tab} search={search} appName={app.name} />
        {search.tab === 'refusals' ? <RefusalList search={search} /> : <VerificationList search={search} />}
      </Tabs>
    </Screen>
  )
}

/** The recipient, the time and the choice of apps hold for both. */
const tabsOf = (search: Search): { id: Tab; name: string; href: string }[] => [
  { id: 'verifications', name: 'Verifications', href: addressOf({ ...search, tab: 'verifications' }) },
  { id: 'refusals', name: 'Refusals', href: addressOf({ ...search, tab: 'refusals' }) },
]

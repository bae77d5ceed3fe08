// Sends and resends that were refused, newest first, with what each means and what to do.
import { linkToScreen } from '../../../screens.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { countryName } from '../../data/countries.ts'
import { fillPage } from '../../data/fill-page.ts'
import { useApp, useTenant } from '../../data/tenant.tsx'
import { onlySet } from '../../data/use-address-filters.ts'
import { usePages } from '../../data/use-pages.ts'
import { Empty } from '../../ui/empty.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { refusalWords } from './refusal-words.ts'
import { addressOf, EMPTY_SEARCH, isFiltered, type Search } from './search.ts'
import { ShortId } from './short-id.tsx'

type Refusal = Schemas['RefusalRecord']

export function RefusalList({ search }: { search: Search }) {
  const app = useApp()
  const { apps } = useTenant()
  const { recipient, allApps, type, since, until } = search
  const filters = {
    ...(allApps ? {} : { app_id: app.id }),
    ...onlySet({ recipient, type, since, until }),
  }
  const pages = usePages(`refusals ${JSON.stringify(filters)}`, (page, call) =>
    fillPage(page, asked =>
      bodyOf(api.GET('/admin/v1/refusals', { params: { query: { ...filters, ...asked } }, ...call })),
    ),
  )
  const nameOfApp = (id: string): string => apps.find(one => one.id === id)?.name ?? id
  return (
    <>
      <div class="verifications-results">
        <PagedTable
          caption="Refusals"
          columns={allApps ? [...COLUMNS, appColumn(nameOfApp)] : COLUMNS}
          pages={pages}
          keyOf={refusal => `${refusal.at} ${refusal.request_id} ${refusal.key_id} ${refusal.masked_recipient}`}
          empty={
            isFiltered(search) ? (
              <Empty title="No refusal matches the filters.">
                Refusals are kept for 7 days.{' '}
                <ScreenLink to={addressOf({ ...EMPTY_SEARCH, tab: 'refusals', allApps: search.allApps })}>
                  Show all refusals
                </ScreenLink>
              </Empty>
            ) : (
              <Empty title="No send was refused in the last 7 days.">
                Here you see every send that never became a message, with the reason and what to do.
              </Empty>
            )
          }
        />
      </div>
      {pages.data && pages.data.items.length > 0 && (
        <p class="hint">Refusals are kept for 7 days. In a flood only some are recorded.</p>
      )}
    </>
  )
}

const COLUMNS: readonly Column<Refusal>[] = [
  { name: 'Time', show: ({ at }) => <Time at={at} /> },
  { name: 'Recipient', show: ({ masked_recipient }) => masked_recipient ?? '–' },
  { name: 'Country', show: ({ country }) => (country ? <abbr title={countryName(country)}>{country}</abbr> : '–') },
  { name: 'Why', show: refusal => <Why {...refusal} /> },
  {
    name: 'Request',
    show: ({ request_id }) => (request_id ? <ShortId id={request_id} /> : <span class="soft">none</span>),
  },
]

const appColumn = (nameOf: (id: string) => string): Column<Refusal> => ({
  name: 'App',
  show: ({ app_id }) => nameOf(app_id),
})

function Why({ app_id, type, scope }: Refusal) {
  const { title, means, todo, screen } = refusalWords(type, scope)
  return (
    <div class="verifications-why">
      <p>
        <strong>{title}.</strong> {means}
      </p>
      <p class="soft">
        {todo}{' '}
        {screen && (
          <ScreenLink to={screen} ofApp={app_id}>
            {linkToScreen(screen)}
          </ScreenLink>
        )}
      </p>
      <p class="hint">
        <code>{type}</code>
        {scope && (
          <>
            , scope <code>{scope}</code>
          </>
        )}
      </p>
    </div>
  )
}

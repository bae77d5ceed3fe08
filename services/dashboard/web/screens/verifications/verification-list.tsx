// The verifications that a search finds, newest first, one page at a time.

import { useLocation } from 'preact-iso'
import { SAMPLE_NUMBER_SPACED } from '../../../../../machines/sample-number.ts'
import { verificationPath } from '../../../screens.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'
import { fillPage } from '../../data/fill-page.ts'
import { useMay } from '../../data/session.tsx'
import { useAddress, useApp, useTenant } from '../../data/tenant.tsx'
import { onlySet } from '../../data/use-address-filters.ts'
import { usePages } from '../../data/use-pages.ts'
import { useQuery } from '../../data/use-query.ts'
import { Badge, Status } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { ExportButton } from '../../ui/export-button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { deliveryState } from './delivery-words.ts'
import { addressOf, EMPTY_SEARCH, isFiltered, metadataQuery, type Search } from './search.ts'

type Verification = Schemas['VerificationRecord']

export function VerificationList({ search }: { search: Search }) {
  const app = useApp()
  const { apps, companies } = useTenant()
  const { recipient, allApps, status, channel, country, mode, delivery, metadata, since, until } = search
  const filters = {
    ...(allApps ? {} : { app_id: app.id }),
    ...onlySet({ recipient, status, channel, country, mode, delivery, since, until }),
    ...metadataQuery(metadata),
  }
  const pages = usePages(`verifications ${JSON.stringify(filters)}`, (page, call) =>
    fillPage(page, asked =>
      bodyOf(api.GET('/admin/v1/verifications', { params: { query: { ...filters, ...asked } }, ...call })),
    ),
  )
  /** The names of other companies' apps are not read; an operator sees the company's. */
  const nameOfApp = ({ app_id, company_id }: Verification): string =>
    apps.find(({ id }) => id === app_id)?.name ?? companies.find(({ id }) => id === company_id)?.name ?? app_id
  return (
    <>
      {recipient !== '' && <RefusalsOfRecipient search={search} appId={allApps ? null : app.id} />}
      <div class="verifications-results">
        <ExportButton
          key={JSON.stringify(filters)}
          read={(asCsv, from) =>
            api.GET('/admin/v1/verifications', { params: { query: { ...filters, ...from } }, ...asCsv })
          }
        />
        <PagedTable
          caption="Verifications"
          columns={allApps ? [...COLUMNS, appColumn(nameOfApp)] : COLUMNS}
          pages={pages}
          keyOf={({ otp_id }) => otp_id}
          empty={<NothingFound search={search} appName={app.name} />}
        />
      </div>
    </>
  )
}

const COLUMNS: readonly Column<Verification>[] = [
  {
    name: 'Recipient',
    show: ({ app_id, otp_id, kind, masked_recipient, mode }) => (
      <span class="verifications-recipient">
        <ScreenLink to={verificationPath(otp_id)} ofApp={app_id}>
          {masked_recipient}
        </ScreenLink>
        {kind === 'message' && <Badge>own code</Badge>}
        {mode === 'test' && <Badge>test</Badge>}
      </span>
    ),
  },
  { name: 'Started', show: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Status', show: ({ status }) => <Status of={status} /> },
  { name: 'Channel', show: ({ channel }) => CHANNEL_NAMES[channel] },
  { name: 'Last message', show: verification => <LastMessage {...verification} /> },
  { name: 'Country', show: ({ country }) => (country ? <abbr title={countryName(country)}>{country}</abbr> : '–') },
]

const appColumn = (nameOf: (verification: Verification) => string): Column<Verification> => ({
  name: 'App',
  show: nameOf,
})

function LastMessage({ deliveries }: Verification) {
  const last = deliveries.at(-1)
  if (!last) return <span class="soft">None: the user writes first</span>
  return <span class={last.status === 'failed' ? 'verifications-bad' : ''}>{deliveryState(last)}</span>
}

/** A code that never came may never have been sent. */
function RefusalsOfRecipient({ search, appId }: { search: Search; appId: string | null }) {
  const { recipient } = search
  const query = useQuery(`refusals of ${appId} ${recipient}`, call =>
    bodyOf(
      api.GET('/admin/v1/refusals', {
        params: { query: { recipient, limit: 1, ...(appId === null ? {} : { app_id: appId }) } },
        ...call,
      }),
    ),
  )
  if (!query.data?.items[0]) return null
  return (
    <Notice tone="warning">
      <p>
        Sends to this recipient were refused in the last days, the newest on <Time at={query.data.items[0].at} />.{' '}
        <ScreenLink to={addressOf({ ...search, tab: 'refusals', since: '' })}>See why</ScreenLink>
      </p>
    </Notice>
  )
}

function NothingFound({ search, appName }: { search: Search; appName: string }) {
  const { route } = useLocation()
  const inApp = useAddress()
  const mayTry = useMay('developer')
  if (!isFiltered(search) && !search.allApps)
    return (
      <Empty title={`No verification of ${appName} is on record.`}>
        {mayTry && (
          <>
            Send one in a minute, without writing code: <ScreenLink to="/try">open the sandbox</ScreenLink>.
          </>
        )}
      </Empty>
    )
  const isRecipient = search.recipient !== ''
  return (
    <Empty
      title={isRecipient ? 'No verification of this recipient was found.' : 'No verification matches the filters.'}
    >
      {isRecipient && (
        <p>Write a number with its country code, such as {SAMPLE_NUMBER_SPACED}. Old verifications are erased.</p>
      )}
      <div class="actions verifications-centered">
        {!search.allApps && (
          <Button onClick={() => route(inApp(addressOf({ ...search, allApps: true })))}>Search all apps</Button>
        )}
        <Button onClick={() => route(inApp(addressOf({ ...EMPTY_SEARCH, allApps: search.allApps })))}>
          Show all verifications
        </Button>
      </div>
    </Empty>
  )
}

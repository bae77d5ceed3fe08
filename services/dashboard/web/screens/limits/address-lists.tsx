// Lists of client addresses, which hold for all companies: what each is, how many ranges it has, and its import while it runs.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { formatDuration } from '../../data/duration.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { usePolling } from '../../data/use-polling.ts'
import { useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Reading } from '../../ui/reading.tsx'
import { type Column, RowActions, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import {
  type AddressList,
  CLASS_WORDS,
  contentWords,
  isUnderWay,
  progressOf,
  withoutList,
} from './address-list-body.ts'
import { ImportList, type ListChoice } from './import-list.tsx'

/** Often while an import runs, so that its progress is seen. */
const REFRESH_MS = 30_000
const REFRESH_WHILE_IMPORTING_MS = 700

const TITLE = 'Address lists'
const LEAD =
  'Sends from abusive addresses are refused. Addresses of VPNs, proxies, Tor and datacenters have a lower limit. The lists hold for all companies.'

export function AddressLists() {
  const mayChange = useMay('operator')
  if (mayChange) return <OperatorsLists />
  return (
    <Card title={TITLE} lead={LEAD}>
      <p class="soft">{onlyRole('operator', 'see and change these lists')}</p>
    </Card>
  )
}

const keyOf = (list: Pick<AddressList, 'class' | 'name'>): string => `${list.class} ${list.name}`

function OperatorsLists() {
  const lists = useQuery('address lists', async call => (await bodyOf(api.GET('/admin/v1/ip-lists', call))).items)
  usePolling(lists.poll, lists.data?.some(isUnderWay) ? REFRESH_WHILE_IMPORTING_MS : REFRESH_MS)
  const [importing, setImportingInto] = useState<ListChoice | null>(null)
  const [removing, setRemoving] = useState<AddressList | null>(null)
  const say = useToast()

  const columns: readonly Column<AddressList>[] = [
    {
      name: 'List',
      show: ({ class: addressClass, name }) => (
        <span class="limits-stack">
          <b>{CLASS_WORDS[addressClass].name}</b>
          <span class="soft">{name}</span>
        </span>
      ),
    },
    { name: 'Source', show: list => <Source of={list} /> },
    { name: 'Content', show: contentWords },
    { name: 'Imported', show: ({ refreshed_at }) => <Time at={refreshed_at} /> },
    { name: 'Status', show: list => <ListStatus of={list} /> },
    {
      name: 'Actions',
      quiet: true,
      show: list =>
        list.source.kind !== 'bootstrap' && (
          <RowActions>
            <Button
              look="quiet"
              aria-label={`Replace ${CLASS_WORDS[list.class].name} ${list.name}`}
              onClick={() => setImportingInto({ class: list.class, name: list.name, isNew: false })}
            >
              Replace
            </Button>
            <Button
              look="quiet danger"
              aria-label={`Remove ${CLASS_WORDS[list.class].name} ${list.name}`}
              onClick={() => setRemoving(list)}
            >
              Remove
            </Button>
          </RowActions>
        ),
    },
  ]

  return (
    <Card
      title={TITLE}
      lead={LEAD}
      actions={
        <Button onClick={() => setImportingInto({ class: 'abusive', name: 'default', isNew: true })}>
          Import list
        </Button>
      }
    >
      <Reading of={lists} what="the address lists" />
      {lists.data?.length === 0 && (
        <Empty title="There is no list yet.">
          Import one from a file, by pasting addresses, or from an address on the web that is fetched by schedule.
        </Empty>
      )}
      {lists.data && lists.data.length > 0 && (
        <Table caption="Address lists" columns={columns} rows={lists.data} keyOf={keyOf} />
      )}
      {importing && (
        <ImportList
          choice={importing}
          onImported={items => {
            lists.replace(items)
            setImportingInto(null)
            say('The import has begun. Sends are checked with the new list within 5 seconds of its end.')
          }}
          onClose={() => setImportingInto(null)}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove the list ${CLASS_WORDS[removing.class].name} ${removing.name}?`}
          action="Remove list"
          perform={async () => {
            // Read again: a PUT replaces all lists, and another operator may have added one.
            const { items } = await bodyOf(api.GET('/admin/v1/ip-lists'))
            const body = withoutList(items, removing)
            lists.replace((await bodyOf(api.PUT('/admin/v1/ip-lists', { body }))).items)
            say('The list was removed.')
          }}
          onClose={() => setRemoving(null)}
        >
          <p>
            Its {contentWords(removing)} no longer count.{' '}
            {removing.class === 'abusive' && 'Sends from them are accepted.'}
          </p>
        </Confirm>
      )}
    </Card>
  )
}

function Source({ of: { source, refresh_seconds } }: { of: AddressList }) {
  if (source.kind === 'bootstrap') return <>The bootstrap file</>
  if (source.kind === 'given') return <>Uploaded</>
  return (
    <span class="limits-stack">
      <span class="limits-url">{source.url}</span>
      <span class="soft">
        {refresh_seconds === null ? 'fetched once' : `fetched every ${formatDuration(refresh_seconds)}`}
      </span>
    </span>
  )
}

function ListStatus({ of: list }: { of: AddressList }) {
  if (list.status === 'ready') return <Badge tone="good">ready</Badge>
  if (list.status === 'failed')
    return (
      <span class="limits-stack">
        <Badge tone="bad">failed</Badge>
        <span class="limits-problem">
          {list.problem}
          {list.version !== null && '. The version before stays in use.'}
        </span>
      </span>
    )
  const share = progressOf(list)
  return (
    <span class="limits-stack">
      <span>
        {list.status === 'waiting'
          ? 'About to be fetched'
          : `Importing${list.progress ? `, ${list.progress.lines.toLocaleString('en')} lines` : ''}`}
      </span>
      <progress
        aria-label={`Import of ${CLASS_WORDS[list.class].name} ${list.name}`}
        max={1}
        {...(share === null ? {} : { value: share })}
      />
    </span>
  )
}

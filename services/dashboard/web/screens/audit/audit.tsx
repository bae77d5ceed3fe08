// The audit log, newest first: who did what, when, to what, and what came of it. A record opens to show what it changed.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { fillPage } from '../../data/fill-page.ts'
import { useMay } from '../../data/session.tsx'
import { useCompany, useTenant } from '../../data/tenant.tsx'
import { anyOf, type Filter, onlySet, useAddressFilters } from '../../data/use-address-filters.ts'
import { usePages } from '../../data/use-pages.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { ExportButton } from '../../ui/export-button.tsx'
import { Select } from '../../ui/field.tsx'
import { FilterForm } from '../../ui/filter-form.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { Screen } from '../../ui/screen.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import './audit.css'
import { AuditRecordDialog, Outcome } from './record-dialog.tsx'
import { actionWords, besideName, KNOWN_ACTIONS, whoOf } from './words.ts'

type AuditRecord = Schemas['AuditRecord']

/** The company of a change that holds for all, such as one of prices. */
const EVERY_COMPANY = '*'

const ALL = { value: 'all', label: 'All companies' }
const SCOPE = [{ name: 'scope', label: 'Records of', options: [ALL] }] as const

const FILTERS: readonly Filter<'action' | 'who' | 'since' | 'until'>[] = [
  {
    name: 'action',
    label: 'Action',
    options: anyOf(KNOWN_ACTIONS, action => `${actionWords(action)} (${action})`),
  },
  { name: 'who', label: 'Who', placeholder: 'ann, usr_…' },
  { name: 'since', label: 'Since', isTime: true },
  { name: 'until', label: 'Until', isTime: true },
]

export default function Audit() {
  const company = useCompany()
  const { companies } = useTenant()
  const isOperator = useMay('operator')
  const [opened, setOpened] = useState<AuditRecord | null>(null)
  const [{ scope }, setScope] = useAddressFilters(SCOPE)
  const isAll = isOperator && scope === 'all'
  const [values, setFilters] = useAddressFilters(FILTERS)
  const filters = { ...onlySet(values), ...(isAll ? {} : { company_id: company.id }) }
  const records = usePages(`audit ${JSON.stringify(filters)}`, (page, call) =>
    fillPage(page, asked =>
      bodyOf(api.GET('/admin/v1/audit', { params: { query: { ...filters, ...asked } }, ...call })),
    ),
  )
  const companyName = (id: string | null): string =>
    id === EVERY_COMPANY ? ALL.label : (companies.find(one => one.id === id)?.name ?? id ?? '—')

  const columns: Column<AuditRecord>[] = [
    { name: 'When', show: ({ at }) => <Time at={at} /> },
    { name: 'Who', show: record => <WhoCell who={record.who} /> },
    {
      name: 'What',
      show: record => (
        <div class="audit-what">
          <Button look="quiet" aria-haspopup="dialog" onClick={() => setOpened(record)}>
            {actionWords(record.action)}
          </Button>
        </div>
      ),
    },
    { name: 'Target', show: ({ target }) => <code>{target}</code> },
    { name: 'Outcome', show: ({ outcome }) => <Outcome of={outcome} /> },
  ]
  if (isAll) columns.splice(4, 0, { name: 'Company', show: ({ company_id }) => companyName(company_id) })

  return (
    <Screen
      title="Audit"
      lead="Every change through the dashboard and the admin API, those of prices for all companies too. A record opens to show what it changed; it cannot be edited or deleted."
    >
      <Card
        title={isAll ? 'All companies' : company.name}
        actions={
          <>
            {isOperator && (
              <div class="audit-scope">
                <Select
                  label="Records of"
                  value={scope}
                  options={[{ value: '', label: company.name }, ALL]}
                  onChange={chosen => setScope({ scope: chosen })}
                />
              </div>
            )}
            <ExportButton
              key={JSON.stringify(filters)}
              read={(asCsv, from) =>
                api.GET('/admin/v1/audit', { params: { query: { ...filters, ...from } }, ...asCsv })
              }
            />
            <Button busy={records.loading && records.data !== undefined} onClick={records.reload}>
              Refresh
            </Button>
          </>
        }
      >
        <FilterForm filters={FILTERS} values={values} onChange={setFilters} />
        <PagedTable
          caption="audit records"
          columns={columns}
          pages={records}
          keyOf={({ id }) => id}
          empty={
            Object.keys(onlySet(values)).length > 0 ? (
              <Empty title="No record matches the filters." />
            ) : (
              <Empty title="Nothing has been changed yet.">
                Create a key or edit the routing, and the record is here a moment later.
              </Empty>
            )
          }
        />
      </Card>
      {opened && (
        <AuditRecordDialog record={opened} company={companyName(opened.company_id)} onClose={() => setOpened(null)} />
      )}
    </Screen>
  )
}

function WhoCell({ who }: { who: string }) {
  const caller = whoOf(who)
  return (
    <div class="audit-who">
      <span>{caller.name}</span>
      <span class="soft">{besideName(caller)}</span>
    </div>
  )
}

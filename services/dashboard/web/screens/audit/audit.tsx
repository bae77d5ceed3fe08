// The audit log, newest first: who did what, when, to what, and what came of it. A record opens to show what it changed.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useCompany, useTenant } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Select } from '../../ui/field.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { Screen } from '../../ui/screen.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import './audit.css'
import { type AuditFilter, AuditFilters } from './audit-filters.tsx'
import { AuditRecordDialog, Outcome } from './record-dialog.tsx'
import { actionWords, besideName, whoOf } from './words.ts'

type AuditRecord = Schemas['AuditRecord']

export default function Audit() {
  const company = useCompany()
  const { companies } = useTenant()
  const isOperator = useMay('operator')
  const [scope, setScope] = useState<'company' | 'all'>('company')
  const [opened, setOpened] = useState<AuditRecord | null>(null)
  const isAll = isOperator && scope === 'all'
  const [filters, setFilters] = useState<AuditFilter>({})
  const records = usePages(`audit ${isAll ? 'all' : company.id} ${JSON.stringify(filters)}`, (page, signal) => {
    const filtered = { ...page, ...filters }
    const query = isAll ? filtered : { ...filtered, company_id: company.id }
    return bodyOf(api.GET('/admin/v1/audit', { params: { query }, signal }))
  })
  const companyName = (id: string | null): string => companies.find(one => one.id === id)?.name ?? id ?? '—'

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
      lead="Every change through the dashboard and the admin API. A record opens to show what it changed; it cannot be edited or deleted."
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
                  options={[
                    { value: 'company', label: company.name },
                    { value: 'all', label: 'All companies' },
                  ]}
                  onChange={(chosen: 'company' | 'all') => setScope(chosen)}
                />
              </div>
            )}
            <Button busy={records.loading && records.data !== undefined} onClick={records.reload}>
              Refresh
            </Button>
          </>
        }
      >
        <AuditFilters onChange={setFilters} />
        <PagedTable
          caption="audit records"
          columns={columns}
          pages={records}
          keyOf={({ id }) => id}
          empty={
            Object.keys(filters).length > 0 ? (
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

// One record of the audit log: its facts, and what it changed as a table of paths with old and new values.
import type { Schemas } from '../../api/client.ts'
import { valueWords } from '../../data/value-words.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Fact } from '../../ui/fact.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type Difference, differences, type Json } from './differences.ts'
import { actionWords, besideName, whoOf } from './words.ts'

type AuditRecord = Schemas['AuditRecord']

/** More are not looked through by eye; the API has them all. */
const MAX_SHOWN = 200

const OUTCOMES: Readonly<Record<AuditRecord['outcome'], { label: string; tone: Tone; means: string }>> = {
  done: { label: 'Done', tone: 'good', means: 'The change was made.' },
  undone: { label: 'Not done', tone: 'neutral', means: 'It was refused or came to nothing: nothing was changed.' },
  begun: { label: 'Interrupted', tone: 'warning', means: 'It was interrupted, and may or may not have happened.' },
}

export function Outcome({ of }: { of: AuditRecord['outcome'] }) {
  const { label, tone } = OUTCOMES[of]
  return <Badge tone={tone}>{label}</Badge>
}

export interface AuditRecordDialogProps {
  record: AuditRecord
  /** Its name. */
  company: string
  onClose(): void
}

export function AuditRecordDialog({ record, company, onClose }: AuditRecordDialogProps) {
  const who = whoOf(record.who)
  const changed = differences(record.before as Json, record.after as Json)
  return (
    <Dialog title={actionWords(record.action)} onClose={onClose} wide>
      <dl class="audit-facts">
        <Fact name="When">
          <Time at={record.at} />
        </Fact>
        <Fact name="Who">
          {who.name} <span class="soft">{besideName(who)}</span>
        </Fact>
        <Fact name="Company">{company}</Fact>
        <Fact name="Action">
          <code>{record.action}</code>
        </Fact>
        <Fact name="Target">
          <code>{record.target}</code>
        </Fact>
        <Fact name="Outcome">
          <Outcome of={record.outcome} /> <span class="soft">{OUTCOMES[record.outcome].means}</span>
        </Fact>
        <Fact name="Record">
          <code>{record.id}</code>
        </Fact>
      </dl>
      <section class="audit-changes">
        <h3>What changed</h3>
        {changed.length === 0 ? (
          <p class="soft">This action has no state to compare: the facts above are all of it.</p>
        ) : (
          <Table
            caption="What changed"
            columns={[
              { name: 'Setting', show: ({ path }) => <code>{path || 'the whole'}</code> },
              { name: 'Before', show: difference => <Value of={difference.before} look="before" /> },
              { name: 'After', show: difference => <Value of={difference.after} look="after" /> },
            ]}
            rows={changed.slice(0, MAX_SHOWN)}
            keyOf={rowKey}
          />
        )}
        {changed.length > MAX_SHOWN && (
          <p class="soft">
            {MAX_SHOWN} of {changed.length} are shown. <code>GET /admin/v1/audit</code> has them all.
          </p>
        )}
        {record.action.startsWith('app.') && changed.length > 0 && (
          <p class="soft">— stands for a setting that was not written: its default holds.</p>
        )}
        {record.outcome === 'undone' && changed.length > 0 && <p class="soft">This was asked for, and not done.</p>}
      </section>
    </Dialog>
  )
}

const rowKey = ({ path, before, after }: Difference): string => JSON.stringify([path, before, after])

function Value({ of, look }: { of: Json | undefined; look: 'before' | 'after' }) {
  if (of === undefined) return <span class="soft">—</span>
  return <span class={`audit-value ${look}`}>{valueWords(of)}</span>
}

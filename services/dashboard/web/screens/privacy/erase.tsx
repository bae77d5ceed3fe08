// Exports all that is kept about a person, or erases it, in all apps of a company or in one. In: a number or an address.
// Out: a file in the browser's downloads; or, after a confirmation that says what is there, a report of what was erased.
import { useState } from 'preact/hooks'
import { SAMPLE_NUMBER } from '../../../../../machines/sample-number.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useApp, useCompany } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { fileNameOf, saveFile } from '../../ui/export-button.tsx'
import { Switch, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { erasureReport, foundSentence, maskTyped, recipientProblem } from './erasure-report.ts'

const LOOK_LIMIT = 100

/** What there is of a person, before the erasure. */
interface Found {
  recipient: string
  masked: string
  /** A sentence. */
  verifications: string
}

interface Erased {
  masked: string
  erasure: Schemas['Erasure']
  /** From where. */
  place: string
}

export function Erase() {
  const app = useApp()
  const company = useCompany()
  const mayErase = useMay('developer')
  const mayExport = useMay('owner')
  const [everywhere, setEverywhere] = useState(true)
  const [recipient, setRecipient] = useState('')
  const [found, setFound] = useState<Found | null>(null)
  const [erased, setErased] = useState<Erased | null>(null)
  const [typo, setTypo] = useState<string | undefined>()
  const looking = useChange()
  const exporting = useChange()
  const place = everywhere ? `all apps of ${company.name}` : `the app ${app.name}`

  const isTypedRight = (): boolean => {
    const wrong = recipientProblem(recipient)
    setTypo(wrong)
    return wrong === undefined
  }

  const exportData = () =>
    exporting.run(async () => {
      if (isTypedRight()) await savePerson(everywhere ? await appIdsOf(company.id) : [app.id], recipient.trim())
    })

  const look = () =>
    looking.run(async () => {
      setErased(null)
      if (isTypedRight()) setFound(await findPerson(company.id, everywhere ? {} : { app_id: app.id }, recipient))
    })

  const erase = async ({ recipient: confirmed, masked }: Found) => {
    const body = { recipient: confirmed }
    const erasure = await bodyOf(
      everywhere
        ? api.POST('/admin/v1/companies/{id}/erase', { params: { path: { id: company.id } }, body })
        : api.POST('/admin/v1/apps/{id}/erase', { params: { path: { id: app.id } }, body }),
    )
    setErased({ masked, erasure, place })
    setRecipient('')
  }

  return (
    <Card
      title="A person's data"
      lead="All that is kept of one phone number or email address, in live and in test mode. Export it for a person who asks for it, or erase it."
    >
      <Form change={looking} onSubmit={look}>
        <TextField
          label="Recipient"
          hint={`In full: a phone number with its country code, as in ${SAMPLE_NUMBER}, or an email address.`}
          value={recipient}
          onInput={setRecipient}
          error={typo ?? looking.errorOf('recipient')}
          disabled={!mayErase}
        />
        <Switch
          label={`In all apps of ${company.name}`}
          hint={everywhere ? undefined : `Only in the app ${app.name}.`}
          checked={everywhere}
          onChange={setEverywhere}
          disabled={!mayErase}
        />
        <div class="actions">
          <Button look="danger" type="submit" busy={looking.busy} disabled={!mayErase}>
            Erase
          </Button>
          <Button busy={exporting.busy} disabled={!mayExport} onClick={exportData}>
            Export
          </Button>
        </div>
        {exporting.problem && <ProblemNotice problem={exporting.problem} />}
        {mayErase && !mayExport && <p class="soft">{onlyRole('owner', 'export what is kept about a person')}</p>}
        {!mayErase && <p class="soft">{onlyRole('developer', 'erase a person')}</p>}
      </Form>
      <div role="status">{erased && <Report {...erased} />}</div>
      {found && (
        <Confirm
          // In full, so that a mistyped digit is seen.
          title={`Erase ${found.recipient}?`}
          action="Erase this person"
          perform={() => erase(found)}
          onClose={() => setFound(null)}
        >
          <p>{found.verifications}</p>
          <p>
            Erased from {place} are the verifications with their messages and timelines, records of calls to providers,
            messages in the sandbox, refusals, counters of limits, decisions of the fraud guard and idempotency keys. A
            pending verification ends first.
          </p>
          <p>
            The ledger and the statistics, which name no person, stay. The audit log records the erasure with a
            fingerprint. This cannot be undone.
          </p>
        </Confirm>
      )}
    </Card>
  )
}

/** One file: the export of the app, or a list of those of all apps. */
async function savePerson(appIds: readonly string[], recipient: string): Promise<void> {
  const parts: BlobPart[] = []
  let name = ''
  for (const id of appIds) {
    const { data, response } = await api.POST('/admin/v1/apps/{id}/export', {
      params: { path: { id } },
      body: { recipient },
      parseAs: 'blob',
    })
    if (!data) return
    parts.push(data)
    name = fileNameOf(response)
  }
  const joined = parts.flatMap((part, at) => (at === 0 ? [part] : [',', part]))
  const content = parts.length === 1 ? parts : ['[', ...joined, ']']
  saveFile(new Blob(content, { type: 'application/json' }), name)
}

async function appIdsOf(companyId: string): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const params = { path: { id: companyId }, query: cursor === undefined ? {} : { cursor } }
    const page = await bodyOf(api.GET('/admin/v1/companies/{id}/apps', { params }))
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.next_cursor
  }
  return ids
}

async function findPerson(companyId: string, where: { app_id?: string }, typed: string): Promise<Found> {
  const recipient = typed.trim()
  const params = { query: { ...where, recipient, limit: LOOK_LIMIT } }
  const { items: all, next_cursor } = await bodyOf(api.GET('/admin/v1/verifications', { params }))
  // An operator sees those of other companies too.
  const items = all.filter(({ company_id }) => company_id === companyId)
  const masked = items[0]?.masked_recipient ?? maskTyped(recipient)
  return { recipient, masked, verifications: foundSentence(masked, items.length, next_cursor !== null) }
}

function Report({ masked, erasure, place }: Erased) {
  const sentences = erasureReport(erasure)
  if (sentences.length === 0)
    return (
      <Notice>
        <p>
          Nothing was found of {masked} in {place}, so nothing was erased.
        </p>
      </Notice>
    )
  return (
    <div class="notice good">
      <p>
        {masked} was erased from {place}:
      </p>
      <ul class="privacy-report">
        {sentences.map(sentence => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <p>
        The <ScreenLink to="/audit">audit log</ScreenLink> has a record of it.
      </p>
    </div>
  )
}

// How long the app keeps verifications. A shorter time erases older ones, so it is confirmed first, and in force a day later: until
// then the card says so, and has a button that undoes it.
import { useState } from 'preact/hooks'
import { SETTING_FIELDS } from '../../../apps/settings.data.ts'
import { api, bodyOf } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { hintOf } from '../../data/setting-words.ts'
import { getApp, useApp, useTenant } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'

export function Retention() {
  const app = useApp()
  const { replaceApp } = useTenant()
  const mayChange = useMay('developer')
  const mayShorten = useMay('owner')
  // The list of apps was read when the page was opened.
  const params = { path: { id: app.id } }
  const readApp = () => getApp(app.id)
  const fresh = useQuery(`retention of ${app.id}`, readApp)
  const { settings, pending_retention: pending } = fresh.data ?? app
  const storedDays = settings.retention_days
  // Null: not edited, so the field shows what is stored.
  const [typed, setTyped] = useState<string | null>(null)
  const days = typed ?? String(storedDays)
  const [asked, setAsked] = useState(false)
  const change = useChange()
  const undoing = useChange()
  const say = useToast()

  // An empty field is 0, which the API refuses in words beside the field.
  const retention_days = Number(days)
  const isShorter = retention_days >= (SETTING_FIELDS.retention_days.bounds?.min ?? 0) && retention_days < storedDays
  const save = () =>
    change.run(async () => {
      const body = { settings: { retention_days }, replaces: { retention_days: storedDays } }
      const changed = await bodyOf(api.PATCH('/admin/v1/apps/{id}', { params, body })).catch(async thrown => {
        if (Problem.from(thrown).status !== 409) throw thrown
        const now = await readApp()
        const theirs = now.settings.retention_days
        if (theirs === storedDays) throw thrown
        // What is erased is asked anew.
        fresh.replace(now)
        throw new Problem(409, {
          detail: `Another person has changed it to ${daysWords(theirs)} meanwhile, so nothing was saved. Check it, then save again.`,
        })
      })
      show(changed)
      say('The retention was saved.')
    })
  const undo = () =>
    undoing.run(async () => {
      const body = { settings: { retention_days: storedDays } }
      show(await bodyOf(api.PATCH('/admin/v1/apps/{id}', { params, body })))
      say(`Verifications stay for ${daysWords(storedDays)}.`)
    })
  const show = (changed: typeof app): void => {
    fresh.replace(changed)
    replaceApp(changed)
    setTyped(null)
  }

  return (
    <Card
      title="Retention"
      lead="Afterwards everything of a verification is erased automatically: recipient, client address, messages, timeline."
    >
      {pending && (
        <Notice tone="warning">
          <p>
            From <Time at={pending.effective_at} /> on, verifications are kept for {daysWords(pending.retention_days)}{' '}
            only, and older ones are erased. Until then it can be undone.
          </p>
          <Button busy={undoing.busy} disabled={!mayChange} onClick={undo}>
            Keep them for {daysWords(storedDays)}
          </Button>
          {undoing.problem && <ProblemNotice problem={undoing.problem} />}
        </Notice>
      )}
      <Form change={change} onSubmit={async () => (isShorter ? setAsked(true) : void (await save()))}>
        <TextField
          label="Days"
          hint={hintOf('retention_days')}
          type="number"
          {...SETTING_FIELDS.retention_days.bounds}
          value={days}
          onInput={text => setTyped(text === String(storedDays) ? null : text)}
          error={change.errorOf('settings.retention_days')}
          disabled={!mayChange}
        />
        <div class="actions">
          <Button type="submit" busy={change.busy} disabled={!mayChange}>
            Save
          </Button>
        </div>
        {!mayChange && <p class="soft">{onlyRole('developer', 'change it')}</p>}
        {mayChange && !mayShorten && <p class="soft">{onlyRole('owner', 'make it shorter')}</p>}
      </Form>
      {asked && (
        <Confirm
          title={`Keep verifications for ${daysWords(retention_days)} only?`}
          action="Erase older ones"
          // A refusal is shown in the form, where the days are.
          perform={async () => void (await save())}
          onClose={() => setAsked(false)}
        >
          <p>
            Now they are kept for {daysWords(storedDays)}. In 24 hours, all verifications of {app.name} that are older
            than {daysWords(retention_days)} are erased: recipient, client address, messages, timeline. Until then this
            can be undone here, afterwards it cannot. The owners of the company are told.
          </p>
        </Confirm>
      )}
    </Card>
  )
}

const daysWords = (days: number): string => (days === 1 ? '1 day' : `${days} days`)

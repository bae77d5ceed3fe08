// The button beside Save that tries the changes of a screen on past traffic, and the dialog with what they would have
// done. Nothing is saved.
import { useState } from 'preact/hooks'
import { HOUR_MS } from '../../../../../infra/time.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { useQuery } from '../../data/use-query.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Segments } from '../../ui/segments.tsx'
import './settings-trial.css'
import { TrialResult } from './trial-result.tsx'

const PERIODS = {
  day: { label: '24 hours', hours: 24 },
  week: { label: '7 days', hours: 7 * 24 },
  month: { label: '30 days', hours: 30 * 24 },
} as const
type Period = keyof typeof PERIODS

const OPTIONS = (Object.keys(PERIODS) as Period[]).map(value => ({ value, label: PERIODS[value].label }))

export function TryOnPastTraffic({ draft }: { draft: SettingsDraft }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button disabled={draft.busy} onClick={() => setOpen(true)}>
        Try on past traffic
      </Button>
      {isOpen && <TrialDialog draft={draft} onClose={() => setOpen(false)} />}
    </>
  )
}

function TrialDialog({ draft: { patch }, onClose }: { draft: SettingsDraft; onClose(): void }) {
  const app = useApp()
  const [period, setPeriod] = useState<Period>('day')
  const trial = useQuery(`trial ${app.id} ${period}`, call => {
    const until = Date.now()
    return bodyOf(
      api.POST('/admin/v1/apps/{id}/settings/try', {
        params: { path: { id: app.id } },
        body: {
          // As in a change of the app: it may hold texts in place of numbers, which the server refuses.
          settings: (patch ?? {}) as Schemas['AppSettingsPatch'],
          since: until - PERIODS[period].hours * HOUR_MS,
          until,
        },
        ...call,
      }),
    )
  })
  return (
    <Dialog title="Try on past traffic" onClose={onClose} wide>
      <p class="soft">
        What your unsaved changes would have done to live sends, by the rules that judge them. Nothing is saved.
      </p>
      <Segments label="The last" value={period} options={OPTIONS} onChange={value => setPeriod(value)} />
      {trial.problem && <ProblemNotice problem={trial.problem} onRetry={trial.reload} />}
      {trial.data ? <TrialResult trial={trial.data} /> : trial.loading && <Loading what="past traffic" />}
    </Dialog>
  )
}

// The settings of an app that are neither routing nor limits: its codes, its texts, what devices may do, and the hook of a login.
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { settingsOn } from '../../data/setting-words.ts'
import { useSettingsDraft } from '../../data/use-settings-draft.ts'
import { Notice } from '../../ui/notice.tsx'
import { SaveBar } from '../../ui/save-bar.tsx'
import { Screen } from '../../ui/screen.tsx'
import { TryOnPastTraffic } from '../settings-trial/try-on-past-traffic.tsx'
import { CodeCard } from './code-card.tsx'
import { DevicesCard } from './devices-card.tsx'
import './settings.css'
import { SupabaseCard } from './supabase-card.tsx'
import { TextsCard } from './texts-card.tsx'

const SHOWN = settingsOn('/settings')

export default function Settings() {
  const may = useMay('developer')
  const draft = useSettingsDraft('settings', SHOWN)
  return (
    <Screen
      title="Settings"
      lead="What a code is like, how long it lives, what your messages say, what apps and web pages may do, and the hook of a login. What you save here is used by every process within 5 seconds."
    >
      {!may && <Notice>{onlyRole('developer', 'change the settings')}</Notice>}
      <CodeCard draft={draft} />
      <TextsCard draft={draft} />
      <DevicesCard draft={draft} />
      <SupabaseCard />
      <SaveBar draft={draft} beside={<TryOnPastTraffic draft={draft} />} />
    </Screen>
  )
}

// The screen of limits and fraud: the guard and what it saw, limits, countries, caps, and the lists of client addresses.
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { settingsOn } from '../../data/setting-words.ts'
import { useSettingsDraft } from '../../data/use-settings-draft.ts'
import { Notice } from '../../ui/notice.tsx'
import { SaveBar } from '../../ui/save-bar.tsx'
import { Screen } from '../../ui/screen.tsx'
import { TryOnPastTraffic } from '../settings-trial/try-on-past-traffic.tsx'
import { AddressLists } from './address-lists.tsx'
import { ChallengeCard } from './challenge-card.tsx'
import { CountriesCard } from './countries-card.tsx'
import { Decisions } from './decisions.tsx'
import { FraudGuard } from './fraud-guard.tsx'
import { NumberKindsCard } from './number-kinds-card.tsx'
import { Prefixes } from './prefixes.tsx'
import { RulesCard } from './rules-card.tsx'
import { SpendCaps } from './spend-caps.tsx'
import { StoppedRecipients } from './stopped-recipients.tsx'
import './limits.css'

const SHOWN = settingsOn('/limits')

export default function Limits() {
  const may = useMay('developer')
  const draft = useSettingsDraft('limits', SHOWN)
  return (
    <Screen
      title="Limits and fraud"
      lead="What keeps attackers from spending your money and guessing codes. What you change here is used by every process within 5 seconds."
    >
      {!may && <Notice>{onlyRole('developer', 'change the limits')}</Notice>}
      <FraudGuard />
      <ChallengeCard />
      <Decisions />
      <Prefixes />
      <StoppedRecipients />
      <RulesCard draft={draft} />
      <CountriesCard draft={draft} />
      <NumberKindsCard draft={draft} />
      <SpendCaps draft={draft} />
      <AddressLists />
      <SaveBar draft={draft} beside={<TryOnPastTraffic draft={draft} />} />
    </Screen>
  )
}

// The code and the verification around it: its language, length, lives, attempts and waits.
import { hintOf } from '../../data/setting-words.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { SettingField } from '../../ui/setting-field.tsx'
import { languageName } from './language-name.ts'

const CODE_SETTINGS = [
  'code.length',
  'code.ttl_seconds',
  'verify_attempts',
  'send_attempts',
  'resend_cooldown_seconds',
  'token_ttl_seconds',
  'idempotency_ttl_seconds',
  'reuse_pending',
] as const

export function CodeCard({ draft }: { draft: SettingsDraft }) {
  const language = languageName(draft.settings.locale)
  return (
    <Card title="Code" lead="A verification that has begun keeps the values with which it began.">
      <Editable>
        <div class="settings-fields">
          <SettingField draft={draft} path="locale" hint={`${language ? `${language}. ` : ''}${hintOf('locale')}`} />
          {CODE_SETTINGS.map(path => (
            <SettingField key={path} draft={draft} path={path} />
          ))}
        </div>
      </Editable>
    </Card>
  )
}

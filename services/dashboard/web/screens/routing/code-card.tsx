// The code and the verification around it: its language, length, lives, attempts and waits.
import { duration, durations } from '../../data/duration.ts'
import { wholeNumber } from '../../data/notation.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { TextField } from '../../ui/field.tsx'
import { TypedField } from '../../ui/typed-field.tsx'
import { languageName } from './language-name.ts'

export function CodeCard({ draft, may }: { draft: SettingsDraft; may: boolean }) {
  const { settings, set, errorOf, errorUnder } = draft
  const { code } = settings
  const language = languageName(settings.locale)
  return (
    <Card title="Code" lead="A verification that has begun keeps the values with which it began.">
      <Editable may={may}>
        <div class="routing-fields">
          <TextField
            label="Default language"
            hint={`${language ? `${language}. ` : ''}For messages of a send without a language, or with one that has no text.`}
            value={settings.locale}
            onInput={locale => set('locale', locale)}
            error={errorOf('locale')}
          />
          <TypedField
            label="Digits of a code"
            hint="4 to 8. Fewer digits need lower limits of guesses."
            inputMode="numeric"
            notation={wholeNumber}
            value={code.length}
            onInput={length => set('code', { ...code, length })}
            error={errorOf('code.length')}
          />
          <TypedField
            label="A code is valid for"
            hint="After the latest message; a verification lasts at most three times as long."
            notation={duration}
            value={code.ttl_seconds}
            onInput={ttl_seconds => set('code', { ...code, ttl_seconds })}
            error={errorOf('code.ttl_seconds')}
            refusal="Must be from 1 minute to 1 hour, such as “10 minutes”."
          />
          <TypedField
            label="Wrong codes per verification"
            hint="1 to 10. The last one ends the verification."
            inputMode="numeric"
            notation={wholeNumber}
            value={settings.verify_attempts}
            onInput={attempts => set('verify_attempts', attempts)}
            error={errorOf('verify_attempts')}
          />
          <TypedField
            label="Messages per verification"
            hint="1 to 20: the send and its resends."
            inputMode="numeric"
            notation={wholeNumber}
            value={settings.send_attempts}
            onInput={attempts => set('send_attempts', attempts)}
            error={errorOf('send_attempts')}
          />
          <TypedField
            label="Waits between messages"
            hint="After the 1st, 2nd, … message, with commas. The last one repeats."
            notation={durations}
            value={settings.resend_cooldown_seconds}
            onInput={waits => set('resend_cooldown_seconds', waits)}
            error={errorUnder('resend_cooldown_seconds')}
            refusal="Must be times of at most 1 hour with commas between them, such as “30 seconds, 1 minute”."
          />
          <TypedField
            label="A device’s token is valid for"
            hint="In this time your server exchanges it."
            notation={duration}
            value={settings.token_ttl_seconds}
            onInput={ttl => set('token_ttl_seconds', ttl)}
            error={errorOf('token_ttl_seconds')}
            refusal="Must be from 1 second to 1 hour, such as “10 minutes”."
          />
          <TypedField
            label="An idempotency key counts for"
            hint="In this time a repeated send with the same key sends nothing new."
            notation={duration}
            value={settings.idempotency_ttl_seconds}
            onInput={ttl => set('idempotency_ttl_seconds', ttl)}
            error={errorOf('idempotency_ttl_seconds')}
            refusal="Must be from 1 minute to 7 days, such as “1 day”."
          />
        </div>
      </Editable>
    </Card>
  )
}

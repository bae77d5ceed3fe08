// Which channels may be used, and what each needs beside a provider.
import type { Schemas } from '../../api/client.ts'
import { optionalText } from '../../data/notation.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { Switch } from '../../ui/field.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { TypedField } from '../../ui/typed-field.tsx'

type Mode = Schemas['WhatsAppMode']

const MODES: readonly { value: Mode; label: string; hint: string }[] = [
  {
    value: 'template',
    label: 'Template',
    hint: 'The code is sent in a message template that Meta has approved. The user does nothing.',
  },
  {
    value: 'link_code',
    label: 'Link, then the code',
    hint: 'The user opens a link and sends the prepared message; the answer in the chat holds the code.',
  },
  {
    value: 'link_inbound',
    label: 'Link alone',
    hint: 'The user opens a link and sends the prepared message, which approves the verification. No code is typed. Publishable keys cannot use it.',
  },
]

const isString = (value: string | null): value is string => typeof value === 'string'

export function ChannelsCard({ draft, may }: { draft: SettingsDraft; may: boolean }) {
  const { channels } = draft.settings
  const { sms, whatsapp, telegram, email } = channels
  const set = (changed: Partial<typeof channels>): void => draft.set('channels', { ...channels, ...changed })
  return (
    <Card title="Channels" lead="A channel that is off is skipped in every order, for running verifications too.">
      <Editable may={may}>
        <div class="routing-channels">
          <div class="routing-channel-settings">
            <Switch
              label="SMS"
              hint="Text messages to phone numbers."
              checked={sms.enabled}
              onChange={enabled => set({ sms: { ...sms, enabled } })}
            />
            <TypedField
              label="Domain"
              hint="The text ends in “@domain #code”, which browsers fill in by themselves on your pages."
              placeholder="example.com"
              notation={optionalText}
              value={sms.domain}
              onInput={domain => set({ sms: { ...sms, domain: isString(domain) ? domain : null } })}
              error={draft.errorOf('channels.sms.domain')}
            />
            <TypedField
              label="Android hash"
              hint="The 11 characters with which your Android app reads the message by itself (SMS Retriever)."
              placeholder="FA+9qCX9VSu"
              monospace
              notation={optionalText}
              value={sms.android_hash}
              onInput={hash => set({ sms: { ...sms, android_hash: isString(hash) ? hash : null } })}
              error={draft.errorOf('channels.sms.android_hash')}
            />
          </div>
          <div class="routing-channel-settings">
            <Switch
              label="WhatsApp"
              hint="Messages to phone numbers that have WhatsApp."
              checked={whatsapp.enabled}
              onChange={enabled => set({ whatsapp: { ...whatsapp, enabled } })}
            />
            <RadioGroup
              label="WhatsApp mode"
              value={whatsapp.mode}
              options={MODES}
              onChange={mode => set({ whatsapp: { ...whatsapp, mode } })}
              error={draft.errorOf('channels.whatsapp.mode')}
            />
            <TypedField
              label="Business number"
              hint="The number that the link opens. The link modes need it."
              placeholder="+15550001111"
              inputMode="tel"
              notation={optionalText}
              value={whatsapp.business_number}
              onInput={number => set({ whatsapp: { ...whatsapp, business_number: isString(number) ? number : null } })}
              error={draft.errorOf('channels.whatsapp.business_number')}
              refusal={businessNumberRefusal(whatsapp)}
            />
          </div>
          <div class="routing-channel-settings">
            <Switch
              label="Telegram"
              hint="Messages to phone numbers that have Telegram."
              checked={telegram.enabled}
              onChange={enabled => set({ telegram: { enabled } })}
            />
            <Switch
              label="Email"
              hint="Mails to addresses. It is the only channel that reaches them."
              checked={email.enabled}
              onChange={enabled => set({ email: { enabled } })}
            />
          </div>
        </div>
      </Editable>
    </Card>
  )
}

const businessNumberRefusal = ({ business_number }: Schemas['WhatsAppSettings']): string =>
  business_number === null
    ? 'The link modes need the number that the link opens, such as +15550001111.'
    : 'This is no phone number with its country code, such as +15550001111.'

// Which channels may be used, and what each needs beside a provider.
import type { Schemas } from '../../api/client.ts'
import { CHANNEL_NAMES, type Channel } from '../../data/channels.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { SettingField } from '../../ui/setting-field.tsx'

const REACH: Readonly<Record<Channel, string>> = {
  sms: 'Text messages to phone numbers.',
  whatsapp: 'Messages to phone numbers that have WhatsApp.',
  telegram: 'Messages to phone numbers that have Telegram.',
  email: 'Mails to addresses. It is the only channel that reaches them.',
}

export function ChannelsCard({ draft }: { draft: SettingsDraft }) {
  const switchOf = (channel: Channel) => (
    <SettingField
      draft={draft}
      path={`channels.${channel}.enabled`}
      label={CHANNEL_NAMES[channel]}
      hint={REACH[channel]}
    />
  )
  return (
    <Card title="Channels" lead="A channel that is off is skipped in every order, for running verifications too.">
      <Editable>
        <div class="routing-channels">
          <div class="routing-channel-settings">
            {switchOf('sms')}
            <SettingField draft={draft} path="channels.sms.domains" />
            <SettingField draft={draft} path="channels.sms.android_hashes" />
          </div>
          <div class="routing-channel-settings">
            {switchOf('whatsapp')}
            <SettingField draft={draft} path="channels.whatsapp.mode" />
            <SettingField
              draft={draft}
              path="channels.whatsapp.business_number"
              inputMode="tel"
              refusal={businessNumberRefusal(draft.settings.channels.whatsapp)}
            />
          </div>
          <div class="routing-channel-settings">
            {switchOf('telegram')}
            {switchOf('email')}
          </div>
        </div>
      </Editable>
    </Card>
  )
}

const businessNumberRefusal = ({ business_number }: Schemas['WhatsAppSettings']): string =>
  business_number === null
    ? 'The link modes need the number that the link opens, such as +15550001111.'
    : 'This is not a phone number with its country code, such as +15550001111.'

// The routing screen: in which order channels are tried, for whom another order holds, and what a message and its code are like.
import { api, bodyOf } from '../../api/client.ts'
import type { Channel } from '../../data/channels.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useQuery } from '../../data/use-query.ts'
import { useSettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { Switch } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SaveBar } from '../../ui/save-bar.tsx'
import { Screen } from '../../ui/screen.tsx'
import { ChannelOrder } from './channel-order.tsx'
import { ChannelsCard } from './channels-card.tsx'
import { CodeCard } from './code-card.tsx'
import { CountryOrders } from './country-orders.tsx'
import { DevicesCard } from './devices-card.tsx'
import { Explain } from './explain.tsx'
import './routing.css'

/** The settings that this screen has fields for. */
const SHOWN = [
  'routing',
  'channels',
  'auto_fallback',
  'locale',
  'code',
  'verify_attempts',
  'send_attempts',
  'resend_cooldown_seconds',
  'token_ttl_seconds',
  'idempotency_ttl_seconds',
  'publishable_send',
  'allowed_origins',
] as const

/** A shorter code needs fewer guesses. */
const NAMES_ELSEWHERE = { 'limits.recipient_verify': '“Wrong codes for one recipient”, under Limits and fraud' }

const EMPTY_ORDER = {
  title: 'Save an empty default order?',
  text: 'With no channel in the default order, every send is refused with NoEnabledChannelError, except to countries that have an order of their own.',
  action: 'Save empty order',
}

export default function Routing() {
  const app = useApp()
  const may = useMay('developer')
  const draft = useSettingsDraft('routing', SHOWN)
  const providers = useQuery(`providers of ${app.id}`, async () => {
    const page = await bodyOf(api.GET('/admin/v1/apps/{id}/providers', { params: { path: { id: app.id } } }))
    return page.items
  })
  const { settings, set } = draft
  const { routing, channels } = settings
  const emptiesOrder = routing.default.length === 0 && app.settings.routing.default.length > 0

  function noteOf(channel: Channel): string | null {
    if (!channels[channel].enabled) return 'Off'
    const isProvided = providers.data?.some(provider => provider.channel === channel) ?? true
    return isProvided ? null : 'No provider'
  }

  return (
    <Screen
      title="Routing"
      lead="A send takes the first channel of the order that is switched on, can reach the recipient and has a provider. What you save here is used by every process within 5 seconds."
    >
      {!may && <Notice>{onlyRole('developer', 'change the routing')}</Notice>}
      <div class="columns">
        <Card title="Channels in order" lead="The default order. Drag the channels, or use the arrows.">
          <Editable may={may}>
            <ChannelOrder
              label="Default order"
              order={routing.default}
              onChange={order => set('routing', { ...routing, default: order })}
              may={may}
              noteOf={noteOf}
            />
            <Switch
              label="Automatic fallback"
              hint="When a message finally fails, the next channel is tried at once, without a resend."
              checked={settings.auto_fallback}
              onChange={on => set('auto_fallback', on)}
              error={draft.errorOf('auto_fallback')}
            />
          </Editable>
        </Card>
        <Card title="Countries" lead="Numbers of these countries have an order of their own.">
          <Editable may={may}>
            <CountryOrders
              orders={routing.countries}
              defaultOrder={routing.default}
              onChange={countries => set('routing', { ...routing, countries })}
              may={may}
              noteOf={noteOf}
              errorOf={draft.errorUnder}
            />
          </Editable>
        </Card>
      </div>
      <Explain providers={providers.data ?? []} hasUnsavedChanges={draft.isDirty} />
      <ChannelsCard draft={draft} may={may} />
      <CodeCard draft={draft} may={may} />
      <DevicesCard draft={draft} may={may} />
      <SaveBar draft={draft} names={NAMES_ELSEWHERE} question={emptiesOrder ? EMPTY_ORDER : null} />
    </Screen>
  )
}

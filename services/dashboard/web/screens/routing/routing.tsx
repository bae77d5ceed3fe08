// The routing screen: which channels are used, in which order they are tried, and for whom another order holds.
import type { Channel } from '../../data/channels.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { labelOf, settingsOn } from '../../data/setting-words.ts'
import { useApp } from '../../data/tenant.tsx'
import { useQuery } from '../../data/use-query.ts'
import { useSettingsDraft } from '../../data/use-settings-draft.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SaveBar } from '../../ui/save-bar.tsx'
import { Screen } from '../../ui/screen.tsx'
import { SettingField } from '../../ui/setting-field.tsx'
import { isKnown, listProviders } from '../providers/provider-calls.ts'
import { TryOnPastTraffic } from '../settings-trial/try-on-past-traffic.tsx'
import { ChannelOrder } from './channel-order.tsx'
import { ChannelsCard } from './channels-card.tsx'
import { CountryOrders } from './country-orders.tsx'
import { Explain } from './explain.tsx'
import { ProvidersByCountry } from './providers-by-country.tsx'
import './routing.css'

const SHOWN = settingsOn('/routing')

const EMPTY_ORDER = {
  title: 'Save an empty default order?',
  text: 'With no channel in the default order, every send is refused with NoEnabledChannelError, except to countries that have an order of their own.',
  action: 'Save empty order',
}

export default function Routing() {
  const app = useApp()
  const may = useMay('developer')
  const draft = useSettingsDraft('routing', SHOWN)
  const providers = useQuery(`providers of ${app.id}`, () => listProviders(app.id))
  const known = providers.data?.filter(isKnown)
  const { routing, channels } = draft.settings
  const emptiesOrder = routing.default.length === 0 && app.settings.routing.default.length > 0

  function noteOf(channel: Channel): string | null {
    if (!channels[channel].enabled) return 'Off'
    const ofChannel = known?.filter(provider => provider.channel === channel)
    if (ofChannel === undefined || ofChannel.some(({ paused }) => !paused)) return null
    return ofChannel.length === 0 ? 'No provider' : 'Provider paused'
  }

  return (
    <Screen
      title="Routing"
      lead="A send takes the first channel of the order that is switched on, can reach the recipient and has a provider. What you save here is used by every process within 5 seconds."
    >
      {!may && <Notice>{onlyRole('developer', 'change the routing')}</Notice>}
      <div class="columns">
        <Card title="Channels in order" lead="The default order. Drag the channels, or use the arrows.">
          <Editable>
            <ChannelOrder
              label={labelOf('routing.default')}
              order={routing.default}
              onChange={order => draft.set('routing.default', order)}
              noteOf={noteOf}
            />
            <SettingField draft={draft} path="auto_fallback" />
          </Editable>
        </Card>
        <Card title="Countries" lead="Numbers of these countries have an order of their own.">
          <Editable>
            <CountryOrders
              orders={routing.countries}
              defaultOrder={routing.default}
              onChange={countries => draft.set('routing.countries', countries)}
              noteOf={noteOf}
              errorOf={draft.errorUnder}
            />
          </Editable>
        </Card>
      </div>
      <Card
        title="Providers in order"
        lead="A channel may have several providers. If the first one fails, the next one gets the message. One that accepts messages nobody receives stands behind the others until it recovers, whatever you choose here."
      >
        <Editable>
          <div class="routing-provider-rule">
            <SettingField draft={draft} path="routing.providers" />
            {routing.providers === 'best' && <SettingField draft={draft} path="routing.worth_micros" />}
          </div>
        </Editable>
      </Card>
      <ProvidersByCountry providers={known ?? []} onReordered={providers.reload} />
      <Explain providers={known ?? []} hasUnsavedChanges={draft.isDirty} />
      <ChannelsCard draft={draft} />
      <SaveBar draft={draft} beside={<TryOnPastTraffic draft={draft} />} question={emptiesOrder ? EMPTY_ORDER : null} />
    </Screen>
  )
}

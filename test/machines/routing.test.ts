import { expect } from 'chai'
import { CHANNELS, type Channel } from '../../machines/channels.ts'
import {
  firstUsable,
  isGeoBlocked,
  type Obstacle,
  obstacle,
  orderFor,
  type RoutingInput,
  usableChannels,
} from '../../machines/routing.ts'
import type { ChannelSettings } from '../../machines/settings.ts'

const channels = (changes: Partial<ChannelSettings> = {}): ChannelSettings => ({
  sms: { enabled: true, domain: null, android_hash: null },
  email: { enabled: true },
  telegram: { enabled: true },
  whatsapp: { enabled: true, mode: 'template', business_number: '+15550001111' },
  ...changes,
})

const situation = ({
  changes,
  ...rest
}: Partial<RoutingInput> & { changes?: Partial<ChannelSettings> } = {}): RoutingInput => ({
  settings: { channels: channels(changes) },
  recipient: 'phone',
  providedChannels: CHANNELS,
  whatsapp: 'template',
  caller: 'server',
  ...rest,
})

describe('which channels are usable', () => {
  it('for a phone: all but email', () => {
    expect(usableChannels(situation())).to.deep.equal(['sms', 'whatsapp', 'telegram'])
  })

  it('for an address: email alone', () => {
    expect(usableChannels(situation({ recipient: 'email' }))).to.deep.equal(['email'])
  })

  it('only those the app has enabled', () => {
    const changes = { telegram: { enabled: false } }
    expect(usableChannels(situation({ changes }))).to.deep.equal(['sms', 'whatsapp'])
  })

  it('only those with a provider', () => {
    expect(usableChannels(situation({ providedChannels: ['whatsapp', 'email'] }))).to.deep.equal(['whatsapp'])
  })

  const noNumber = { whatsapp: { enabled: true, mode: 'link_code' as const, business_number: null } }
  const whyNot: [string, Channel, Parameters<typeof situation>[0], Obstacle | null][] = [
    ['a disabled channel', 'sms', { changes: { sms: { ...channels().sms, enabled: false } } }, 'disabled'],
    ['disabled before unreachable', 'email', { changes: { email: { enabled: false } } }, 'disabled'],
    ['email to a phone', 'email', {}, 'cannot_reach_recipient'],
    ['sms to an address', 'sms', { recipient: 'email' }, 'cannot_reach_recipient'],
    ['a channel without a provider', 'telegram', { providedChannels: ['sms'] }, 'no_provider'],
    ['a link without a number to open', 'whatsapp', { whatsapp: 'link_code', changes: noNumber }, 'no_business_number'],
    ['a template without such a number', 'whatsapp', { changes: noNumber }, null],
    ['a link with one', 'whatsapp', { whatsapp: 'link_inbound' }, null],
    [
      'approval by message for a device',
      'whatsapp',
      { whatsapp: 'link_inbound', caller: 'publishable' },
      'not_provable_by_device',
    ],
    ['a code by chat for a device', 'whatsapp', { whatsapp: 'link_code', caller: 'publishable' }, null],
  ]
  for (const [what, channel, given, why] of whyNot)
    it(`${what}: ${why ?? 'is usable'}`, () => {
      expect(obstacle(channel, situation(given))).to.equal(why)
    })

  it('by the mode the verification was sent with, not the one set since', () => {
    const changes = { whatsapp: { enabled: true, mode: 'template' as const, business_number: null } }
    expect(usableChannels(situation({ changes, whatsapp: 'link_code' }))).not.to.include('whatsapp')
  })
})

describe('the order of channels', () => {
  const routing = {
    default: ['sms', 'email'] satisfies Channel[],
    countries: { BR: ['whatsapp', 'sms'] satisfies Channel[] },
  }

  it('is the default one, unless the country has its own', () => {
    expect(orderFor(routing, 'GB')).to.deep.equal(['sms', 'email'])
    expect(orderFor(routing, 'BR')).to.deep.equal(['whatsapp', 'sms'])
  })

  it('is the default one for a recipient of no country', () => {
    expect(orderFor(routing, null)).to.deep.equal(['sms', 'email'])
  })

  it('is taken from its first usable channel', () => {
    expect(firstUsable(['whatsapp', 'sms', 'telegram'], ['telegram', 'sms'])).to.equal('sms')
    expect(firstUsable(['whatsapp'], ['sms'])).to.equal(undefined)
    expect(firstUsable([], ['sms'])).to.equal(undefined)
  })
})

describe('blocked countries', () => {
  const blocked = (blocked_countries: string[], allowed_countries: string[] | null, country: string | null) =>
    isGeoBlocked({ blocked_countries, allowed_countries }, { kind: 'phone', country })

  it('are those listed as blocked', () => {
    expect(blocked(['KP'], null, 'KP')).to.equal(true)
    expect(blocked(['KP'], null, 'GB')).to.equal(false)
  })

  it('are those missing where there is a list of allowed ones', () => {
    expect(blocked([], ['GB', 'GG'], 'FR')).to.equal(true)
    expect(blocked([], ['GB', 'GG'], 'GG')).to.equal(false)
    expect(blocked([], [], 'GB')).to.equal(true)
  })

  it('are blocked even when they are allowed too', () => {
    expect(blocked(['GB'], ['GB'], 'GB')).to.equal(true)
  })

  it('are no part of a number of no country, which is none of those allowed', () => {
    expect(blocked(['GB'], null, null)).to.equal(false)
    expect(blocked([], ['GB'], null)).to.equal(true)
  })

  it('say nothing of mail', () => {
    const mail = { kind: 'email', country: null } as const
    expect(isGeoBlocked({ blocked_countries: ['GB'], allowed_countries: ['GB'] }, mail)).to.equal(false)
  })
})

import { expect } from 'chai'
import { CHANNELS, type Channel, type Obstacle } from '../../machines/channels.ts'
import type { Prices } from '../../machines/otp.ts'
import {
  costIn,
  firstUsable,
  freeChannel,
  isGeoBlocked,
  obstacle,
  orderFor,
  type ProviderScope,
  type RoutingInput,
  SANDBOX_SCOPES,
  usableChannels,
} from '../../machines/routing.ts'
import type { AppSettings, WhatsAppMode } from '../../machines/settings.ts'

type ChannelSettings = AppSettings['channels']

const channels = (changes: Partial<ChannelSettings> = {}): ChannelSettings => ({
  sms: { enabled: true, domains: [], android_hashes: [] },
  email: { enabled: true },
  telegram: { enabled: true },
  whatsapp: { enabled: true, mode: 'template', business_number: '+15550001111' },
  ...changes,
})

const providerOf = (channel: Channel, scope: Partial<ProviderScope> = {}): ProviderScope => ({
  channel,
  paused: false,
  countries: null,
  ...scope,
})
const PAUSED = providerOf('sms', { paused: true })
const INDIAN = providerOf('sms', { countries: ['IN'] })

const routingInput = ({
  changes,
  ...rest
}: Partial<RoutingInput> & { changes?: Partial<ChannelSettings> } = {}): RoutingInput => ({
  settings: { channels: channels(changes), number_kinds: { refused: ['pager'], fixed_line: 'skip_sms' } },
  recipient: 'phone',
  number_kind: undefined,
  country: 'GB',
  providers: SANDBOX_SCOPES,
  whatsapp: 'template',
  caller: 'server',
  code_length: 6,
  ...rest,
})

describe('the usable channels', () => {
  it('are all but email for a phone number', () => {
    expect(usableChannels(routingInput())).to.deep.equal(['sms', 'whatsapp', 'telegram'])
  })

  it('leave Telegram out for a code of more than 8 digits, which its gateway does not take', () => {
    const isUsed = (code_length: number | null) => usableChannels(routingInput({ code_length })).includes('telegram')
    expect([4, 8, 9, 10].map(isUsed)).to.deep.equal([true, true, false, false])
    expect(obstacle('telegram', routingInput({ code_length: 9 }))).to.equal('code_too_long')
    // What a code that the caller made allows, the call asks for itself.
    expect(isUsed(null)).to.equal(true)
  })

  it('leave out those on which the recipient said STOP, unless something else is in the way too', () => {
    const stopped = ['sms', 'whatsapp'] as const
    expect(usableChannels(routingInput({ stopped }))).to.deep.equal(['telegram'])
    expect(obstacle('sms', routingInput({ stopped }))).to.equal('stopped_by_recipient')
    expect(obstacle('sms', routingInput({ stopped, providers: [] }))).to.equal('no_provider')
  })

  const noNumber = { whatsapp: { enabled: true, mode: 'link_code' as const, business_number: null } }
  const whyNot: [string, Channel, Parameters<typeof routingInput>[0], Obstacle | null][] = [
    ['a disabled channel', 'sms', { changes: { sms: { ...channels().sms, enabled: false } } }, 'disabled'],
    [
      'a disabled channel that cannot reach the recipient',
      'email',
      { changes: { email: { enabled: false } } },
      'disabled',
    ],
    ['email to a phone number', 'email', {}, 'cannot_reach_recipient'],
    ['sms to an email address', 'sms', { recipient: 'email' }, 'cannot_reach_recipient'],
    ['whatsapp to a number of a refused kind', 'whatsapp', { number_kind: 'pager' }, 'number_kind'],
    ['sms to a fixed line that it skips', 'sms', { number_kind: 'fixed_line' }, 'number_kind'],
    ['telegram to such a fixed line', 'telegram', { number_kind: 'fixed_line' }, null],
    ['sms to a number of a kind that is not refused', 'sms', { number_kind: 'toll_free' }, null],
    ['a channel without a provider', 'telegram', { providers: [providerOf('sms')] }, 'no_provider'],
    ['a channel whose provider is paused', 'sms', { providers: [PAUSED] }, 'provider_paused'],
    ['a channel whose provider serves other countries', 'sms', { providers: [INDIAN] }, 'no_provider_for_country'],
    ['a channel that could send if a provider were resumed', 'sms', { providers: [PAUSED, INDIAN] }, 'provider_paused'],
    ['the same in another order', 'sms', { providers: [INDIAN, PAUSED] }, 'provider_paused'],
    ['a channel with one more provider', 'sms', { providers: [PAUSED, INDIAN, providerOf('sms')] }, null],
    ["a provider that serves the number's country", 'sms', { providers: [INDIAN], country: 'IN' }, null],
    ['a provider of some countries for a number of none', 'sms', { providers: [INDIAN], country: null }, null],
    [
      'a link without a business number',
      'whatsapp',
      { whatsapp: 'link_code', changes: noNumber },
      'no_business_number',
    ],
    ['a template without a business number', 'whatsapp', { changes: noNumber }, null],
    ['a link with a business number', 'whatsapp', { whatsapp: 'link_inbound' }, null],
    [
      'an approval by message for a device',
      'whatsapp',
      { whatsapp: 'link_inbound', caller: 'publishable' },
      'not_provable_by_device',
    ],
    ['a code in the chat for a device', 'whatsapp', { whatsapp: 'link_code', caller: 'publishable' }, null],
  ]
  for (const [what, channel, given, why] of whyNot)
    it(why === null ? `include ${what}` : `do not include ${what} (${why})`, () => {
      expect(obstacle(channel, routingInput(given))).to.equal(why)
    })

  it("depend on the verification's own WhatsApp mode, not on the app's current one", () => {
    const changes = { whatsapp: { enabled: true, mode: 'template' as const, business_number: null } }
    expect(usableChannels(routingInput({ changes, whatsapp: 'link_code' }))).not.to.include('whatsapp')
  })
})

describe('the routing order', () => {
  const routing = {
    default: ['sms', 'email'] satisfies Channel[],
    countries: { BR: ['whatsapp', 'sms'] satisfies Channel[] },
  }

  it('is the default order, unless the recipient has a country with its own', () => {
    expect(orderFor(routing, 'GB')).to.deep.equal(['sms', 'email'])
    expect(orderFor(routing, 'BR')).to.deep.equal(['whatsapp', 'sms'])
    expect(orderFor(routing, null)).to.deep.equal(['sms', 'email'])
  })

  it('starts with its first usable channel', () => {
    expect(firstUsable(['whatsapp', 'sms', 'telegram'], ['telegram', 'sms'])).to.equal('sms')
    expect(firstUsable(['whatsapp'], ['sms'])).to.equal(undefined)
    expect(firstUsable([], ['sms'])).to.equal(undefined)
  })
})

describe('blocked countries', () => {
  const blocked = (blocked_countries: string[], allowed_countries: string[] | null, country: string | null) =>
    isGeoBlocked({ blocked_countries, allowed_countries }, { kind: 'phone', country })

  it('are those in blocked_countries, and those that are not in allowed_countries if that is set', () => {
    expect(blocked(['KP'], null, 'KP')).to.equal(true)
    expect(blocked(['KP'], null, 'GB')).to.equal(false)
    expect(blocked([], ['GB', 'GG'], 'FR')).to.equal(true)
    expect(blocked([], ['GB', 'GG'], 'GG')).to.equal(false)
    expect(blocked([], [], 'GB')).to.equal(true)
    expect(blocked(['GB'], ['GB'], 'GB')).to.equal(true)
  })

  it('do not block a number without a country, but allowed_countries does, nor ever an email address', () => {
    expect(blocked(['GB'], null, null)).to.equal(false)
    expect(blocked([], ['GB'], null)).to.equal(true)
    const mail = { kind: 'email', country: null } as const
    expect(isGeoBlocked({ blocked_countries: ['GB'], allowed_countries: ['GB'] }, mail)).to.equal(false)
  })
})

describe('the cost of a message', () => {
  it("is the country's, else that of the other countries, else unknown", () => {
    const cost = { GB: 0, '*': 60_000 }
    expect([costIn(cost, 'GB'), costIn(cost, 'FR'), costIn(cost, null)]).to.deep.equal([0, 60_000, 60_000])
    expect([costIn({ GB: 1 }, 'FR'), costIn({}, null)]).to.deep.equal([null, null])
  })
})

describe('the free channel', () => {
  const usable = [...CHANNELS]
  const cases: [string, Prices, WhatsAppMode, Channel | null][] = [
    ['is the first without a price, and never sms', {}, 'template', 'whatsapp'],
    ['is no channel with a price', { whatsapp: 1, telegram: 1, email: 1 }, 'template', null],
    ['is not kept from templates by the price of a reply', { reply: 1 }, 'template', 'whatsapp'],
    ['is WhatsApp with link_code, where replies are free', { whatsapp: 1 }, 'link_code', 'whatsapp'],
    ['is not WhatsApp with link_code, where replies have a price', { reply: 1 }, 'link_code', 'telegram'],
    ['is WhatsApp with link_inbound, where replies are free', { whatsapp: 1 }, 'link_inbound', 'whatsapp'],
    ['is not WhatsApp with link_inbound, where replies have a price', { reply: 1 }, 'link_inbound', 'telegram'],
  ]
  for (const [words, prices, whatsapp, free] of cases)
    it(words, () => expect(freeChannel({ order: usable, usable }, prices, whatsapp)).to.equal(free))
})

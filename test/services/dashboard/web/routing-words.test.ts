import { expect } from 'chai'
import { placeAt } from '../../../../services/dashboard/web/data/order.ts'
import {
  byPlace,
  orderWords,
  providerWords,
  type RoutePreview,
  sendOutcome,
  verdictOf,
} from '../../../../services/dashboard/web/screens/routing/route-words.ts'

const BRAZIL: RoutePreview = {
  channel: 'whatsapp',
  refusal: null,
  why: 'It is the first usable channel in the order of BR.',
  recipient_type: 'phone',
  country: 'BR',
  order: ['whatsapp', 'sms'],
  whatsapp_mode: 'template',
  channels: [
    { channel: 'sms', place: 2, usable: true, obstacle: null, reason: null, provider: 'main' },
    { channel: 'whatsapp', place: 1, usable: true, obstacle: null, reason: null, provider: 'main' },
    { channel: 'telegram', place: null, usable: false, obstacle: 'off', reason: 'It is switched off.', provider: null },
    { channel: 'email', place: null, usable: false, obstacle: 'recipient', reason: 'It cannot.', provider: null },
  ],
}
const EVERYWHERE = { paused: false, countries: null }
const REFUSED: RoutePreview = { ...BRAZIL, channel: null, refusal: 'NoEnabledChannelError' }
const SERVER = { mode: 'live', kind: 'server', publishableSend: false } as const
const DEVICE = { mode: 'live', kind: 'publishable', publishableSend: false } as const

describe('the order of channels', () => {
  it('finds the place of a dragged row by the middles of the others', () => {
    expect([5, 25, 35, 99].map(y => placeAt(y, [20, 30, 40]))).to.deep.equal([0, 1, 2, 3])
  })
})

describe('the explanation of a route, in words', () => {
  it('says the channel, or why a send is refused', () => {
    expect(sendOutcome(BRAZIL, SERVER)).to.equal('The code goes by WhatsApp.')
    expect(sendOutcome({ ...BRAZIL, whatsapp_mode: 'link_code' }, SERVER)).to.match(/^The user gets a link/)
    expect(sendOutcome(REFUSED, SERVER)).to.match(/^A send is refused: no channel of the order/)
    expect(sendOutcome({ ...REFUSED, refusal: 'HTTPException', why: 'So it is.' }, SERVER)).to.equal(
      'A send is refused: So it is.',
    )
  })

  it('says that publishable keys may not send, before anything else', () => {
    expect(sendOutcome(BRAZIL, DEVICE)).to.match(/publishable keys may not send.*under Settings/)
    expect(sendOutcome(BRAZIL, { ...DEVICE, mode: 'test' })).to.equal('The code goes by WhatsApp.')
    expect(sendOutcome(BRAZIL, { ...DEVICE, publishableSend: true })).to.equal('The code goes by WhatsApp.')
  })

  it('says whose order holds', () => {
    expect(orderWords(BRAZIL, ['BR'])).to.equal('It is a number of Brazil. Brazil has its own order: WhatsApp, SMS.')
    expect(orderWords(BRAZIL, [])).to.match(/The default order holds/)
    expect(orderWords({ ...BRAZIL, country: null, order: [] }, [])).to.match(/of no country.*: empty\.$/)
    expect(orderWords({ ...BRAZIL, recipient_type: 'email' }, [])).to.match(/email address/)
    expect(orderWords({ ...BRAZIL, recipient_type: null }, [])).to.equal(null)
  })

  it('says of every channel why, in the order of places', () => {
    const said = byPlace(BRAZIL.channels).map(choice => `${choice.channel}: ${verdictOf(choice, BRAZIL)}`)
    expect(said).to.deep.equal([
      'whatsapp: Used: the first of the order that can be used.',
      'sms: It could be used, but WhatsApp comes first. A resend may take it.',
      'telegram: It is switched off.',
      'email: It cannot.',
    ])
    expect(
      verdictOf({ channel: 'sms', place: 2, usable: true, obstacle: null, reason: null, provider: 'main' }, REFUSED),
    ).to.equal('It could be used.')
  })

  it('names the providers of the channel in the order in which they are tried', () => {
    const providers = [
      { name: 'b', channel: 'sms', position: 1, ...EVERYWHERE },
      { name: 'a', channel: 'sms', position: 1, ...EVERYWHERE },
      { name: 'c', channel: 'sms', position: 0, ...EVERYWHERE },
      { name: 'paused', channel: 'sms', position: 0, paused: true, countries: null },
      { name: 'indian', channel: 'sms', position: 0, paused: false, countries: ['IN'] },
      { name: 'mail', channel: 'email', position: 0, ...EVERYWHERE },
    ] satisfies Parameters<typeof providerWords>[3]
    expect(providerWords('sms', SERVER, 'GB', providers)).to.equal('c; if it fails a, then b')
    expect(providerWords('sms', SERVER, 'GB', providers, 'b')).to.equal('b; if it fails c, then a')
    expect(providerWords('sms', SERVER, 'IN', providers)).to.match(/^c; if it fails indian/)
    expect(providerWords('email', SERVER, null, providers)).to.equal('mail')
    expect(providerWords('telegram', SERVER, 'GB', providers)).to.equal('no provider')
    expect(providerWords('sms', { mode: 'test' }, 'GB', providers)).to.match(/^the sandbox/)
  })
})

// Past calls are played again: what is spent below a cap is counted as the live account counts it; a message that the
// tried settings would not send costs nothing, and what cannot be known of links and codes is said.
import { expect } from 'chai'
import type { Channel } from '../../machines/channels.ts'
import type {
  Accepted,
  PastEvent,
  PastRecipient,
  PastResend,
  PastResult,
  PastSend,
  Refused,
} from '../../machines/replay.calls.ts'
import { createReplay } from '../../machines/replay.ts'
import type { WhatsAppMode } from '../../machines/settings.ts'
import { resolveSettings, type SettingsInput } from '../../services/domain/tenancy/settings.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const PRICE = 60
const WHATSAPP_PRICE = 40
const REPLY_PRICE = 7
const AMERICAN: PastRecipient = { kind: 'phone', country: 'US', masked: '+1****01', mailbox: '+14155550001' }
const MAILBOX: PastRecipient = { kind: 'email', country: null, masked: 'a****@example.com', mailbox: 'ada@example.com' }
/** Of an international network, which belongs to no country. */
const NO_COUNTRY: PastRecipient = { kind: 'phone', country: null, masked: '+8****45', mailbox: '+883510012345' }
const UNPAID: Refused = { type: 'InsufficientFundsError', scope: null }
const CAPPED: Refused = { type: 'RateLimitExceededError', scope: 'spend_cap' }

const paid = (more: Partial<Accepted> = {}): Accepted => ({ channel: 'sms', micros: PRICE, ...more })

const send = (id: string, at: number, result: PastResult, recipient = AMERICAN): PastSend => ({
  what: 'send',
  at,
  id,
  kind: 'server',
  recipient,
  counter: { key: recipient.mailbox },
  address: null,
  circumstances: {},
  isMessage: false,
  result,
})

const resend = (
  id: string,
  otp_id: string,
  at: number,
  result: PastResult,
  more: Partial<PastResend> = {},
): PastEvent => ({
  what: 'resend',
  at,
  id,
  otp_id,
  by: 'server',
  requested: null,
  result,
  ...more,
})

function replay(events: readonly PastEvent[], saved: SettingsInput, tried: SettingsInput = saved) {
  const provided: Channel[] = ['sms', 'whatsapp', 'telegram', 'email']
  const { play, result } = createReplay({
    saved: resolveSettings(saved),
    tried: resolveSettings(tried),
    since: NOON,
    providers: provided.map(channel => ({ channel, paused: false, countries: null })),
    prices: () => ({ sms: PRICE, whatsapp: WHATSAPP_PRICE, reply: REPLY_PRICE, email: PRICE }),
    pastDays: () => [],
  })
  for (const event of events) play(event)
  const { refused, no_longer_refused, moved, not_judged, cost_micros } = result()
  return { refused, no_longer_refused, moved, not_judged: Object.fromEntries(not_judged), cost_micros }
}

const SAME = { refused: [], no_longer_refused: [], moved: [], not_judged: {} }

describe('a spend cap in a replay', () => {
  const ONE_MESSAGE: SettingsInput = { spend_caps: { '*': 100 } }
  const midnight = NOON + 12 * HOUR_MS

  it('is freed by a refund of the same day, also of a verification that ended long before', () => {
    const events: PastEvent[] = [
      send('otp_1', NOON, paid({ refund: 'given' })),
      { what: 'end', at: NOON + MINUTE_MS, otp_id: 'otp_1', approval: null },
      send('otp_2', NOON + 5 * HOUR_MS, CAPPED),
      { what: 'refund', at: NOON + 6 * HOUR_MS, call_id: 'otp_1' },
      send('otp_3', NOON + 7 * HOUR_MS, paid()),
    ]
    expect(replay(events, ONE_MESSAGE)).to.deep.include(SAME)
  })

  it('is not freed on the next day by a refund of the day before', () => {
    const events: PastEvent[] = [
      send('otp_1', midnight - MINUTE_MS, paid({ refund: 'given' })),
      send('otp_2', midnight + MINUTE_MS, paid()),
      { what: 'refund', at: midnight + 2 * MINUTE_MS, call_id: 'otp_1' },
      send('otp_3', midnight + 3 * MINUTE_MS, CAPPED),
    ]
    expect(replay(events, ONE_MESSAGE)).to.deep.include(SAME)
  })

  it('is used again when an approval takes the refund back', () => {
    const events: PastEvent[] = [
      send('otp_1', NOON, paid({ refund: 'taken_back' })),
      { what: 'refund', at: NOON + MINUTE_MS, call_id: 'otp_1' },
      { what: 'recharge', at: NOON + 2 * MINUTE_MS, call_id: 'otp_1' },
      send('otp_2', NOON + 3 * MINUTE_MS, CAPPED),
    ]
    expect(replay(events, ONE_MESSAGE)).to.deep.include({ ...SAME, cost_micros: { was: PRICE, would_be: PRICE } })
  })

  it('is not freed by the refund of a message that would have gone another way', () => {
    const events: PastEvent[] = [
      send('otp_1', NOON, paid({ refund: 'given' })),
      { what: 'refund', at: NOON + MINUTE_MS, call_id: 'otp_1' },
      send('otp_2', NOON + 2 * MINUTE_MS, paid()),
    ]
    const tried: SettingsInput = { spend_caps: { '*': WHATSAPP_PRICE }, routing: { default: ['whatsapp', 'sms'] } }
    expect(replay(events, {}, tried)).to.deep.include({
      refused: [{ ...CAPPED, country: 'US', count: 1 }],
      cost_micros: { was: PRICE, would_be: WHATSAPP_PRICE },
    })
  })

  it('is not freed by the refund of a resend that would have been refused', () => {
    const events: PastEvent[] = [
      send('otp_1', NOON, paid()),
      resend('dlv_2', 'otp_1', NOON + MINUTE_MS, paid({ channel: 'whatsapp', refund: 'given' })),
      { what: 'refund', at: NOON + 2 * MINUTE_MS, call_id: 'dlv_2' },
      send('otp_2', NOON + 3 * MINUTE_MS, paid()),
    ]
    expect(replay(events, { routing: { default: ['sms', 'whatsapp'] } }, ONE_MESSAGE).refused).to.deep.equal([
      { ...CAPPED, country: 'US', count: 2 },
    ])
  })

  it('has no share of what mails cost, as in live sends', () => {
    const events: PastEvent[] = [
      send('otp_1', NOON, paid({ channel: 'email' }), MAILBOX),
      send('otp_2', NOON + MINUTE_MS, paid(), NO_COUNTRY),
      send('otp_3', NOON + 2 * MINUTE_MS, CAPPED, NO_COUNTRY),
    ]
    expect(replay(events, ONE_MESSAGE)).to.deep.include(SAME)
  })
})

const routed = (...order: Channel[]): SettingsInput => ({ routing: { default: order } })
const withMode = (mode: WhatsAppMode, ...order: Channel[]): SettingsInput => ({
  ...routed(...order),
  channels: { whatsapp: { mode, business_number: '+15550001111' } },
})
const byWhatsApp: Accepted = { channel: 'whatsapp', micros: WHATSAPP_PRICE }
const onLink: Accepted = { channel: 'whatsapp', micros: null }
const answer = (at: number): PastEvent => resend('dlv_2', 'otp_1', at, byWhatsApp, { by: 'answer' })
const moved = (from: Channel, to: Channel) => [{ from, to, country: 'US', count: 1 }]

describe('the guard in a replay', () => {
  const ON: SettingsInput = {
    publishable_send: true,
    fraud_guard: { mode: 'on' },
    limits: { app_publishable: [], app_without_client_ip: [] },
  }
  const OFF: SettingsInput = { ...ON, fraud_guard: { mode: 'off' } }
  const mails = (many: number, kind: PastSend['kind']): PastEvent[] =>
    Array.from({ length: many }, (_, nth) => {
      const recipient = { ...MAILBOX, mailbox: `user${nth}@shop.example` }
      return { ...send(`otp_${nth}`, NOON + nth * 1_000, paid({ channel: 'email' }), recipient), kind }
    })

  it('slows the mails that devices send to one domain, as the live guard does, and leaves those of servers alone', () => {
    const guarded: Refused = { type: 'RateLimitExceededError', scope: 'fraud_guard' }
    const [floor, pace] = [300, 5]
    const { refused } = replay(mails(floor + 20, 'publishable'), OFF, ON)
    expect(refused).to.deep.equal([{ ...guarded, country: null, count: 20 - pace }])
    expect(replay(mails(floor + 20, 'server'), OFF, ON)).to.deep.include(SAME)
  })
})

describe('a link of WhatsApp in a replay', () => {
  const linked = [{ ...send('otp_1', NOON, onLink), whatsapp: 'link_code' as const }]
  const answered = [...linked, answer(NOON + MINUTE_MS)]
  const code = withMode('link_code', 'whatsapp', 'sms')

  it('is made and answered as it was, by the same settings', () => {
    const cost_micros = { was: WHATSAPP_PRICE, would_be: WHATSAPP_PRICE }
    expect(replay(answered, code)).to.deep.equal({ ...SAME, cost_micros })
  })

  it('is not known to be answered where a message was sent', () => {
    const template = withMode('template', 'whatsapp', 'sms')
    const { not_judged, cost_micros } = replay([send('otp_1', NOON, byWhatsApp)], template, code)
    expect({ not_judged, cost_micros }).to.deep.equal({
      not_judged: { link_answers: 1 },
      cost_micros: { was: WHATSAPP_PRICE, would_be: 0 },
    })
  })

  it('costs a message where a message would be sent', () => {
    const { not_judged, cost_micros } = replay(linked, code, withMode('template', 'whatsapp', 'sms'))
    expect({ not_judged, cost_micros }).to.deep.equal({
      not_judged: { link_answers: 1 },
      cost_micros: { was: 0, would_be: WHATSAPP_PRICE },
    })
  })

  it('is not answered where the message of the user approves, nor where no link is made', () => {
    const inbound = replay(answered, code, withMode('link_inbound', 'whatsapp', 'sms'))
    expect(inbound).to.deep.include({
      not_judged: { link_answers: 1, not_sent: 1 },
      cost_micros: { was: WHATSAPP_PRICE, would_be: 0 },
    })
    const sms = replay(answered, code, withMode('link_code', 'sms', 'whatsapp'))
    expect(sms).to.deep.include({
      moved: moved('whatsapp', 'sms'),
      not_judged: { link_answers: 1, not_sent: 1 },
      cost_micros: { was: WHATSAPP_PRICE, would_be: PRICE },
    })
  })

  it('is answered once for nothing, and then as long as sends are left', () => {
    const again = [...answered, resend('dlv_3', 'otp_1', NOON + 2 * MINUTE_MS, byWhatsApp, { by: 'answer' })]
    expect(replay(again, code)).to.deep.include(SAME)
    expect(replay(again, code, { ...code, send_attempts: 1 })).to.deep.include({ not_judged: { not_sent: 1 } })
  })

  it('keeps the mode that it was made with, before the tried settings hold', () => {
    const before = [{ ...linked[0], at: NOON - MINUTE_MS } as PastSend, answer(NOON + MINUTE_MS)]
    const cost_micros = { was: WHATSAPP_PRICE, would_be: WHATSAPP_PRICE }
    expect(replay(before, code, withMode('template', 'sms'))).to.deep.equal({ ...SAME, cost_micros })
  })

  it('counts as a message, or as none, as it was made before the tried settings hold', () => {
    const starts = (accepted: Accepted, whatsapp: WhatsAppMode): PastEvent[] =>
      [3, 2, 1].map(before => ({ ...send(`otp_${before}`, NOON - before * MINUTE_MS, accepted), whatsapp }))
    const limited = {
      limits: { recipient: [{ max: 9, seconds: 86_400 }], recipient_messages: [{ max: 3, seconds: 86_400 }] },
    }
    const [link, template] = (['link_code', 'template'] as const).map(mode => ({
      ...withMode(mode, 'whatsapp'),
      ...limited,
    })) as [SettingsInput, SettingsInput]
    const afterLinks = replay([...starts(onLink, 'link_code'), send('otp_9', NOON, onLink)], link, template)
    expect(afterLinks).to.deep.include({ refused: [], not_judged: { link_answers: 1 } })
    const refused: Refused = { type: 'RateLimitExceededError', scope: 'recipient' }
    const bySms = { ...send('rfs_9', NOON, refused), circumstances: { channel: 'sms' as const } }
    expect(replay([...starts(byWhatsApp, 'template'), bySms], template, link)).to.deep.include(SAME)
  })

  it('is not reproduced by saved settings that make no link', () => {
    const { not_judged } = replay(linked, withMode('template', 'whatsapp', 'sms'))
    expect(not_judged).to.deep.equal({ not_reproduced: 1 })
  })
})

describe('an automatic fallback in a replay', () => {
  const fallback = resend('dlv_2', 'otp_1', NOON + MINUTE_MS, byWhatsApp, { by: 'fallback', after: 'sms' })
  const failed = [
    send('otp_1', NOON, paid({ refund: 'given' })),
    { what: 'refund', at: NOON + MINUTE_MS, call_id: 'otp_1' } as const,
    fallback,
  ]
  const saved: SettingsInput = { ...routed('sms', 'whatsapp', 'email'), auto_fallback: true }
  const was = { was: WHATSAPP_PRICE, would_be: WHATSAPP_PRICE }

  it('is sent as it was, by the same settings', () => {
    expect(replay(failed, saved)).to.deep.equal({ ...SAME, cost_micros: was })
  })

  for (const [when, tried] of [
    ['the tried settings have none', { ...saved, auto_fallback: false }],
    ['no send is left', { ...saved, send_attempts: 1 }],
    ['no other channel is in the order', { ...saved, ...routed('sms') }],
    [
      'the other channel is off',
      { ...saved, ...routed('sms', 'whatsapp'), channels: { whatsapp: { enabled: false } } },
    ],
  ] satisfies [string, SettingsInput][])
    it(`is not sent where ${when}`, () => {
      expect(replay(failed, saved, tried)).to.deep.equal({
        ...SAME,
        not_judged: { not_sent: 1 },
        cost_micros: { was: WHATSAPP_PRICE, would_be: 0 },
      })
    })

  it('that was not paid for is not missed where there would be none', () => {
    const unpaid = [...failed.slice(0, 2), { ...fallback, result: UNPAID }]
    expect(replay(unpaid, saved, { ...saved, auto_fallback: false })).to.deep.include(SAME)
  })

  it('is not sent after a message that would have gone another way', () => {
    const { not_judged, cost_micros } = replay(failed, saved, { ...saved, ...routed('whatsapp', 'sms') })
    expect({ not_judged, cost_micros }).to.deep.equal({ not_judged: { not_sent: 1 }, cost_micros: was })
  })

  it('takes the next channel of the tried order', () => {
    const tried = replay(failed, saved, { ...saved, ...routed('sms', 'email', 'whatsapp') })
    // A number has no mailbox.
    expect(tried).to.deep.equal({ ...SAME, cost_micros: was })
    const toTelegram = replay([...failed], saved, { ...saved, ...routed('sms', 'telegram', 'whatsapp') })
    expect(toTelegram.moved).to.deep.equal(moved('whatsapp', 'telegram'))
  })

  it('is not reproduced where the saved settings have none', () => {
    expect(replay(failed, routed('sms', 'whatsapp')).not_judged).to.deep.equal({ not_reproduced: 1 })
  })
})

describe('the end of a verification in a replay', () => {
  const approved = (at: number): PastEvent => ({ what: 'end', at, otp_id: 'otp_1', approval: { sent_at: NOON } })
  const minute: SettingsInput = { code: { ttl_seconds: 60 } }

  it('is told where the code would not be valid any more', () => {
    const late = [send('otp_1', NOON, paid()), approved(NOON + 2 * MINUTE_MS)]
    expect(replay(late, {}, minute)).to.deep.include({ ...SAME, not_judged: { code_life: 1 } })
    expect(replay(late, minute, minute)).to.deep.include(SAME)
    const early = [send('otp_1', NOON, paid()), approved(NOON + MINUTE_MS - 1)]
    expect(replay(early, {}, minute)).to.deep.include(SAME)
  })

  it('comes with the first resend that is not allowed, where it was canceled at an unknown time', () => {
    const refused: Refused = { type: 'ResendNotAllowedError', scope: null }
    const canceled = [
      { ...send('otp_1', NOON, paid()), isCanceled: true as const },
      resend('rfs_1', 'otp_1', NOON + 10 * MINUTE_MS - 1, refused),
      resend('rfs_2', 'otp_1', NOON + 11 * MINUTE_MS, refused),
    ]
    expect(replay(canceled, {}, { send_attempts: 2 })).to.deep.include(SAME)
    const pending = canceled.map(event => ('isCanceled' in event ? send('otp_1', NOON, paid()) : event))
    expect(replay(pending, {}).not_judged).to.deep.equal({ not_reproduced: 1 })
  })
})

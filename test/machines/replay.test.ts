// Past calls are played again: what is spent below a cap is counted as the live account counts it.
import { expect } from 'chai'
import type { Channel } from '../../machines/channels.ts'
import type { Accepted, PastEvent, PastRecipient, PastResult, PastSend, Refused } from '../../machines/replay.calls.ts'
import { createReplay } from '../../machines/replay.ts'
import { resolveSettings, type SettingsInput } from '../../services/domain/tenancy/settings.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const PRICE = 60
const AMERICAN: PastRecipient = { kind: 'phone', country: 'US', masked: '+1****01', mailbox: '+14155550001' }
const MAILBOX: PastRecipient = { kind: 'email', country: null, masked: 'a****@example.com', mailbox: 'ada@example.com' }
/** Of an international network, which belongs to no country. */
const NO_COUNTRY: PastRecipient = { kind: 'phone', country: null, masked: '+8****45', mailbox: '+883510012345' }
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
  givenCode: null,
  result,
})

const resend = (id: string, otp_id: string, at: number, result: PastResult): PastEvent => ({
  what: 'resend',
  at,
  id,
  otp_id,
  kind: 'server',
  requested: null,
  result,
})

function replay(events: readonly PastEvent[], saved: SettingsInput, tried: SettingsInput = saved) {
  const provided: Channel[] = ['sms', 'whatsapp', 'email']
  const { play, result } = createReplay({
    saved: resolveSettings(saved),
    tried: resolveSettings(tried),
    since: NOON,
    providers: provided.map(channel => ({ channel, paused: false, countries: null })),
    prices: () => ({ sms: PRICE, whatsapp: PRICE, email: PRICE }),
    pastDays: () => [],
  })
  for (const event of events) play(event)
  const { refused, no_longer_refused, not_judged, cost_micros } = result()
  return { refused, no_longer_refused, not_judged: Object.fromEntries(not_judged), cost_micros }
}

const SAME = { refused: [], no_longer_refused: [], not_judged: {} }

describe('a spend cap in a replay', () => {
  const ONE_MESSAGE: SettingsInput = { spend_caps: { '*': 100 } }
  const midnight = NOON + 12 * HOUR_MS

  it('is freed by a refund of the same day, also of a verification that ended long before', () => {
    const events: PastEvent[] = [
      send('otp_1', NOON, paid({ refund: 'kept' })),
      { what: 'end', at: NOON + MINUTE_MS, otp_id: 'otp_1', approvedSentAt: null },
      send('otp_2', NOON + 5 * HOUR_MS, CAPPED),
      { what: 'refund', at: NOON + 6 * HOUR_MS, call_id: 'otp_1' },
      send('otp_3', NOON + 7 * HOUR_MS, paid()),
    ]
    expect(replay(events, ONE_MESSAGE)).to.deep.include(SAME)
  })

  it('is not freed on the next day by a refund of the day before', () => {
    const events: PastEvent[] = [
      send('otp_1', midnight - MINUTE_MS, paid({ refund: 'kept' })),
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
      send('otp_1', NOON, paid({ refund: 'kept' })),
      { what: 'refund', at: NOON + MINUTE_MS, call_id: 'otp_1' },
      send('otp_2', NOON + 2 * MINUTE_MS, paid()),
    ]
    const tried: SettingsInput = { ...ONE_MESSAGE, routing: { default: ['whatsapp', 'sms'] } }
    expect(replay(events, {}, tried)).to.deep.include({
      refused: [{ ...CAPPED, country: 'US', count: 1 }],
      cost_micros: { was: PRICE, would_be: PRICE },
    })
  })

  it('is not freed by the refund of a resend that would have been refused', () => {
    const events: PastEvent[] = [
      send('otp_1', NOON, paid()),
      resend('dlv_2', 'otp_1', NOON + MINUTE_MS, paid({ channel: 'whatsapp', refund: 'kept' })),
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

// Why a code did or did not arrive, in sentences, for every way in which a message can end.
import { expect } from 'chai'
import {
  type Delivery,
  deliveryState,
  type FailureReason,
  type History,
  reasonText,
} from '../../../../services/dashboard/web/screens/verifications/delivery-words.ts'
import type { TimelineEntry } from '../../../../services/dashboard/web/screens/verifications/provider-calls.ts'
import { tellStory } from '../../../../services/dashboard/web/screens/verifications/story.ts'
import { failureReason } from '../../../../services/domain/openapi/shared-schemas.ts'

const START = Date.parse('2030-01-01T12:00:00.000Z')
const at = (ms: number): string => new Date(START + ms).toISOString()
const SERVER = { key_id: 'key_a', kind: 'server' } as const
const DEVICE = { key_id: 'key_b', kind: 'publishable' } as const

const delivery = (members: Partial<Delivery> = {}): Delivery => ({
  delivery_id: 'dlv_1',
  channel: 'sms',
  generation: 1,
  status: 'queued',
  created_at: at(0),
  updated_at: at(0),
  micros: 0,
  ...members,
})

const call = (ms: number, members: Partial<TimelineEntry> = {}): TimelineEntry => ({
  at: at(ms),
  happened: 'provider.called',
  delivery_id: 'dlv_1',
  provider: 'main',
  round: 1,
  call: 1,
  result: 'accepted',
  reference: null,
  http_status: null,
  vendor_code: null,
  vendor_text: null,
  ms: 100,
  ...members,
})

const exhausted = (ms: number, round = 1): TimelineEntry => ({
  at: at(ms),
  happened: 'providers.exhausted',
  delivery_id: 'dlv_1',
  round,
})

const receipt = (ms: number, members: Partial<TimelineEntry> = {}): TimelineEntry => ({
  at: at(ms),
  happened: 'delivery.failed',
  delivery_id: 'dlv_1',
  provider: 'main',
  channel: 'sms',
  ...members,
})

const history = (members: Partial<History> = {}): History => ({
  otp_id: 'otp_1',
  kind: 'verification',
  status: 'pending',
  channel: 'sms',
  masked_recipient: '+1****01',
  completion: 'code',
  created_at: at(0),
  expires_at: at(600_000),
  verified_at: null,
  attempts_left: 5,
  resend_at: null,
  deliveries: [delivery()],
  action_url: null,
  company_id: 'cmp_1',
  app_id: 'app_1',
  mode: 'live',
  started_by: SERVER,
  country: 'US',
  locale: 'en',
  order: ['sms', 'telegram'],
  sends: 1,
  generation: 1,
  wrong_codes: 0,
  joined: [],
  approved_by: null,
  exchange: null,
  metadata: null,
  cost_micros: 0,
  request_id: null,
  timeline: [],
  ...members,
})

/** A verification with one failed message. */
const failed = (
  reason: FailureReason | undefined,
  timeline: TimelineEntry[],
  members: Partial<History> = {},
): History =>
  history({
    deliveries: [delivery({ status: 'failed', updated_at: at(5_000), ...(reason ? { reason } : {}) })],
    timeline,
    ...members,
  })

const NOW = START + 10_000
const LATER = START + 300_000

const deliveredAt = (ms: number, provider?: string): { deliveries: Delivery[] } => ({
  deliveries: [delivery({ status: 'delivered', updated_at: at(ms), ...(provider && { provider }) })],
})
const SENT = delivery({ status: 'sent', updated_at: at(200), provider: 'main' })
const LINK: Partial<History> = { deliveries: [], channel: 'whatsapp', action_url: 'https://wa.me/1' }
const TIMED_OUT = { result: 'unknown', vendor_text: 'it did not answer in time' } as const
const REFUSED = {
  result: 'refused',
  http_status: 400,
  ms: 231,
  vendor_code: '21211',
  vendor_text: 'Not valid.',
} as const
const UNCLEAR = call(0, { result: 'unknown', ms: 2_000 })
const BUSY = { result: 'failed', http_status: 503, vendor_code: '20500', vendor_text: 'Error' } as const
const WRONG_KEY = { provider: 'backup', result: 'failed', http_status: 401, vendor_text: 'Authenticate' } as const
const THREE_ROUNDS = [1, 2, 3].flatMap(round => [
  call(round * 1_000, { round, ...BUSY }),
  call(round * 1_000 + 200, { round, ...WRONG_KEY }),
  exhausted(round * 1_000 + 400, round),
])

/** What is stored, what is told of it as `arrival: reason`, and when. */
const ALL_STATUSES = ['queued', 'sent', 'delivered', 'failed'] as const

const STORIES: [told: History, says: string, now?: number][] = [
  // It arrived.
  [
    history({ ...deliveredAt(4_200, 'main'), timeline: [call(100, { http_status: 201 })] }),
    'arrived: The provider main took it after 100 ms; delivered 4 s later.',
  ],
  // The receipt of a provider without a clear answer came after the next provider was called.
  [
    history({
      ...deliveredAt(20_000, 'main'),
      timeline: [call(0, { ...TIMED_OUT, ms: 2_000 }), call(17_000, { provider: 'backup' })],
    }),
    'arrived: The provider main gave no clear answer after 2 s: it did not answer in time; the provider backup took it after 100 ms; delivered by the provider main.',
  ],
  // The right code was entered: then receipts do not matter.
  ...ALL_STATUSES.map((status): [History, string] => [
    history({ status: 'approved', verified_at: at(12_000), approved_by: SERVER, deliveries: [delivery({ status })] }),
    'arrived: The right code was entered 12 s after the send.',
  ]),
  // It is not known yet.
  [history(), 'under way: The message is on its way to a provider.'],
  [history(), 'under way: The message has waited for 5 min, and no provider was called.', LATER],
  [
    history({ timeline: [call(0, { result: 'failed', http_status: 500 }), exhausted(1)] }),
    'under way: The provider main answered 500 after 100 ms; no provider has taken it yet, and it is tried again.',
  ],
  [history({ status: 'canceled' }), 'unknown: The verification has ended, and no call of a provider is recorded.'],
  [
    history({ deliveries: [SENT], timeline: [call(100)] }),
    'under way: The provider main took it after 100 ms; no receipt has come yet.',
  ],
  [
    history({ deliveries: [SENT], timeline: [call(100)] }),
    'unknown: The provider main took it after 100 ms; no receipt has come for 5 min, so it is not known whether it arrived.',
    LATER,
  ],
  [
    history({ ...LINK, completion: 'inbound' }),
    'under way: It is approved by a WhatsApp message that the user sends with the link; none with its reference has come from this number.',
  ],
  // It did not arrive.
  [
    failed('recipient_unreachable', [call(0, REFUSED), receipt(240, { provider: null })]),
    'not arrived: The number cannot be reached: the provider main answered 400 after 231 ms, saying “Not valid” (code 21211).',
  ],
  [
    failed('recipient_unreachable', [call(0), receipt(3_100, { vendor_code: '30003', vendor_text: 'Unreachable' })]),
    'not arrived: The number cannot be reached: the provider main took it after 100 ms; 3 s later it reported a failure, saying “Unreachable” (code 30003).',
  ],
  [
    failed('provider_failed', THREE_ROUNDS),
    'not arrived: The provider main answered 503 three times, saying “Error” (code 20500); the provider backup answered 401 three times, saying “Authenticate”; no other provider took it.',
  ],
  [
    failed('provider_failed', [call(0), receipt(1_100)]),
    'not arrived: The provider main took it after 100 ms; 1 s later it reported a failure, without saying why.',
  ],
  [
    failed('provider_failed', [exhausted(0), exhausted(1_000, 2)]),
    'not arrived: No provider was called: all of them were paused after earlier failures, or had asked for a pause.',
  ],
  [
    failed('no_answer', [call(0, TIMED_OUT), call(8_100, { ...TIMED_OUT, call: 2 })]),
    'unknown: The provider main gave no clear answer twice: it did not answer in time; it is not known whether the message went out.',
  ],
  [
    failed('no_answer', [
      call(0, { result: 'unknown', http_status: 504 }),
      call(200, { call: 2, result: null, ms: null }),
    ]),
    'unknown: The provider main gave no clear answer, HTTP 504, after 100 ms; the provider main was called, and how that ended is not recorded; it is not known whether the message went out.',
    LATER,
  ],
  [
    failed('superseded', [UNCLEAR], { status: 'canceled' }),
    'unknown: The provider main gave no clear answer after 2 s; it is not known whether the message went out; it was not tried again, because the verification was canceled before.',
  ],
  [failed(undefined, []), 'not arrived: It failed, and the reason is not recorded.'],
]

describe('why a code did or did not arrive', () => {
  for (const [told, says, now = NOW] of STORIES)
    it(says, () => {
      const { arrival, reason } = tellStory(told, now)
      expect(`${arrival}: ${reason}`).to.equal(says)
    })

  it('is told with what to do about it', () => {
    const screens = (told: History, now = NOW) => tellStory(told, now).remedies.map(({ screen }) => screen)
    expect(screens(history(), LATER)[0]).to.equal('/queues')
    expect(screens(failed('recipient_unreachable', [call(0, REFUSED)]))).to.deep.equal([undefined, '/routing'])
    expect(screens(failed('insufficient_funds', []))[0]).to.equal('/money')
    const { remedies } = tellStory(failed('provider_failed', THREE_ROUNDS), NOW)
    expect(remedies[0]?.says).to.match(/^HTTP 401 and 403 usually mean/)
    expect(remedies.at(-1)).to.deep.equal({ says: 'Check the providers of the app.', screen: '/providers' })
    expect(tellStory(failed('no_provider', []), NOW).remedies).to.deep.equal([
      { says: 'Add a provider for SMS.', screen: '/providers' },
    ])
  })

  it('has verdicts of its own for WhatsApp: approved without a code, and asked for a number', () => {
    const approved = history({ status: 'approved', verified_at: at(9_000), channel: 'whatsapp', deliveries: [] })
    expect(tellStory(approved, NOW).verdict).to.equal('Approved without a code')
    const asked = delivery({ channel: 'whatsapp', status: 'delivered', provider: 'main', asks_contact: true })
    const story = tellStory(history({ ...LINK, deliveries: [asked], completion: 'inbound' }), START)
    expect(story).to.include({ arrival: 'under way', verdict: 'Waiting for the user' })
    expect(story.more).to.include('The user wrote without showing their number, so the chat asked for it.')
  })

  for (const reason of failureReason.options)
    it(`${reason} has a sentence, a few words for lists, and never claims an arrival`, () => {
      const story = tellStory(failed(reason, []), NOW)
      expect(story.reason).to.match(/^[A-Z].*\.$/)
      expect(story.arrival).to.be.oneOf(['not arrived', 'unknown'])
      expect(reasonText(reason)).to.match(/^[a-z ]+$/)
      expect(deliveryState({ status: 'failed', reason })).to.equal(`Failed: ${reasonText(reason)}`)
    })
})

describe('why a code did not arrive, with several messages', () => {
  const first = delivery({ status: 'failed', reason: 'no_provider' })
  const second = delivery({ delivery_id: 'dlv_2', channel: 'telegram', status: 'delivered', updated_at: at(3_000) })

  it('the one that arrived decides, and the others follow', () => {
    const story = tellStory(history({ deliveries: [first, second] }), NOW)
    expect(story.arrival).to.equal('arrived')
    expect(story.reason).to.equal('Message 2, by Telegram: Delivered 3 s after it was accepted.')
    expect(story.more).to.deep.equal([
      'Message 1, by SMS: The app had no usable provider for SMS when the message was due.',
    ])
  })

  it('an older code that arrived does not count: it is no longer valid', () => {
    const old = delivery({ status: 'delivered', updated_at: at(3_000) })
    const fresh = delivery({ delivery_id: 'dlv_2', generation: 2, status: 'failed', reason: 'no_provider' })
    const story = tellStory(history({ deliveries: [old, fresh], generation: 2 }), NOW)
    expect(story.arrival).to.equal('not arrived')
    expect(story.reason).to.match(/^Message 2, by SMS: The app had no usable provider/)
  })
})

describe('how a verification ended', () => {
  const moreOf = (members: Partial<History>): string[] =>
    tellStory(history({ deliveries: [], action_url: 'https://wa.me/1', ...members }), NOW).more

  it('names the exchange that a device still needs', () => {
    const approved = { status: 'approved', verified_at: at(1), approved_by: DEVICE } as const
    expect(moreOf(approved)).to.deep.equal([
      'A device approved it, and the backend has not exchanged the verification token.',
    ])
    expect(moreOf({ ...approved, exchange: { key_id: 'key_a', at: at(2) } })).to.deep.equal([
      'The backend has exchanged the verification token.',
    ])
    expect(moreOf({ ...approved, approved_by: SERVER })).to.deep.equal([])
  })
})

// What a developer with a test key sees: codes arrive in the inbox, and receipts and events come as from a real vendor.
import { expect } from 'chai'
import { testClock } from '../support/clock.ts'
import { type Countersign, describeCountersign, type StartCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { promiseState } from '../support/promise-state.ts'

const KEY = 'sk_test_0123456789'

const bootstrapFile = (settings: object = {}) => ({
  companies: [
    {
      id: 'cmp_acme',
      name: 'Acme',
      apps: [
        {
          id: 'app_shop',
          name: 'Shop',
          settings,
          keys: [{ id: 'key_a', kind: 'server', mode: 'test', key: KEY }],
        },
      ],
    },
  ],
})

interface Status {
  otp_id: string
  status: string
  deliveries: { delivery_id: string; channel: string; status: string }[]
}

async function call<T>({ url }: Pick<Countersign, 'url'>, path: string, key: string, body?: object): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as T
  expect(response.status, JSON.stringify(answer)).to.equal(200)
  return answer
}

const send = async (countersign: Countersign, recipient: string, more: object = {}): Promise<string> =>
  (await call<Status>(countersign, '/api/v1/otp/send', KEY, { recipient, ...more })).otp_id

async function deliveries(countersign: Countersign, otp_id: string): Promise<[channel: string, status: string][]> {
  const { deliveries } = await call<Status>(countersign, `/api/v1/otp/${otp_id}`, KEY)
  return deliveries.map(({ channel, status }) => [channel, status])
}

const waitForDeliveries = (countersign: Countersign, otp_id: string, expected: [string, string][]) =>
  eventually(async () => expect(await deliveries(countersign, otp_id)).to.deep.equal(expected))

/** The events of a verification, in the order of their ids. */
const events = async ({ engines }: Countersign, otp_id: string): Promise<string[]> => {
  const all = await engines.store.docs('events').find({ app_id: 'app_shop' }, { sort: { _id: -1 }, limit: 100 })
  return all.filter(({ payload }) => payload.otp_id === otp_id).map(({ type }) => type)
}

interface Message {
  otp_id: string
  delivery_id: string
  text: string
  code: string
}
const inbox = (countersign: Countersign, recipient: string): Promise<Message[]> =>
  call(
    countersign,
    `/admin/v1/sandbox/messages?recipient=${encodeURIComponent(recipient)}`,
    countersign.secrets.adminTokens[0]?.token ?? '',
  )

describeCountersign('the sandbox', (start, engines) => {
  it('delivers a code to the inbox, and the code verifies', async () => {
    const countersign = await start({ bootstrap: bootstrapFile() })
    const otp_id = await send(countersign, '+14155552671', { locale: 'de-AT' })
    await waitForDeliveries(countersign, otp_id, [['sms', 'delivered']])
    const [message] = await inbox(countersign, '+14155552671')
    expect(message).to.include({ otp_id, text: `${message?.code} ist Ihr Shop-Bestätigungscode.` })
    const verified = await call<Status>(countersign, '/api/v1/otp/verify', KEY, { otp_id, code: message?.code })
    expect(verified.status).to.equal('approved')
    await eventually(async () =>
      expect((await events(countersign, otp_id)).sort()).to.deep.equal(['delivery.delivered', 'otp.approved']),
    )
  })

  it('plays the receipts of every magic recipient, with each event once', async () => {
    const countersign = await start({ bootstrap: bootstrapFile() })
    const magic: [string, string, string[]][] = [
      ['+15005550010', 'delivered', ['delivery.delivered']],
      ['+15005550011', 'failed', ['delivery.failed']],
      ['+15005550013', 'delivered', ['delivery.delivered']],
      ['+15005550014', 'delivered', ['delivery.delivered']],
      ['+15005550015', 'sent', []],
    ]
    for (const [recipient, status, happened] of magic) {
      const otp_id = await send(countersign, recipient)
      await waitForDeliveries(countersign, otp_id, [['sms', status]])
      await eventually(async () => expect(await events(countersign, otp_id), recipient).to.deep.equal(happened))
      await waitUntilIdle(countersign)
      expect(await deliveries(countersign, otp_id), recipient).to.deep.equal([['sms', status]])
      expect(await events(countersign, otp_id), recipient).to.deep.equal(happened)
    }
  })

  it('plays a failure on the first channel and a delivery on the next', async () => {
    const countersign = await start({ bootstrap: bootstrapFile({ auto_fallback: true }) })
    const otp_id = await send(countersign, '+15005550016')
    await waitForDeliveries(countersign, otp_id, [
      ['sms', 'failed'],
      ['whatsapp', 'delivered'],
    ])
    const codes = (await inbox(countersign, '+15005550016')).map(({ code }) => code)
    expect(codes).to.have.length(2)
    expect(new Set(codes)).to.have.property('size', 1)
  })

  it('delivers an email to the inbox', async () => {
    const countersign = await start({ bootstrap: bootstrapFile() })
    const otp_id = await send(countersign, 'ada@example.com')
    await waitForDeliveries(countersign, otp_id, [['email', 'delivered']])
    const [message] = await inbox(countersign, 'ada@EXAMPLE.com')
    expect(message?.text).to.match(/^\d{6} is your Shop verification code\.\n\nIt is valid for 10 min\./)
  })

  it('keeps code and recipient out of the log, stored documents and broker messages', async () => {
    const published: unknown[] = []
    const countersign = await start({
      bootstrap: bootstrapFile(),
      decorate: ({ broker, store }) => ({
        store,
        broker: {
          ...broker,
          publish: (queue, message) => {
            published.push(message)
            return broker.publish(queue, message)
          },
        },
      }),
    })
    const otp_id = await send(countersign, '+14155552671')
    await waitForDeliveries(countersign, otp_id, [['sms', 'delivered']])
    const [message] = await inbox(countersign, '+14155552671')
    await waitUntilIdle(countersign)
    const docs = countersign.engines.store.docs.bind(countersign.engines.store)
    const stored = await Promise.all([
      docs('otps').get([otp_id]),
      docs('sandbox_messages').find({}, { sort: { _id: 1 }, limit: 10 }),
      docs('attempts').find({}, { sort: { _id: 1 }, limit: 10 }),
      docs('events').find({ app_id: 'app_shop' }, { sort: { _id: -1 }, limit: 10 }),
    ])
    const traces = JSON.stringify([[...stored[0].values()], ...stored.slice(1), published, countersign.log.output()])
    expect(published.length).to.be.greaterThan(2)
    expect(traces).to.include(otp_id)
    for (const secret of [message?.code ?? '', '4155552671', message?.text ?? '']) {
      expect(secret).not.to.equal('')
      expect(traces).not.to.match(new RegExp(`(?<![0-9a-z])${secret}(?![0-9a-z])`))
    }
  })

  /** Waits until every receipt of the messages sent so far is played and handled. */
  const waitUntilIdle = (countersign: Countersign) =>
    eventually(async () => {
      const otps = await countersign.engines.store
        .docs('otps')
        .find({ app_id: 'app_shop' }, { sort: { _id: -1 }, limit: 50 })
      const waiting = otps.filter(({ outbox }) => outbox.length > 0)
      expect(waiting.map(({ _id }) => _id)).to.deep.equal([])
      for (const queue of ['channel.sms', 'otp.reports', 'webhook.deliver'] as const)
        expect((await countersign.engines.broker.depth(queue)).ready).to.equal(0)
    })

  if (engines === 'embedded') describe('with a clock that stands still', () => describeLateReceipts(start))
})

/** The test advances the clock, which works on the embedded engines only. */
function describeLateReceipts(start: StartCountersign): void {
  it('plays a late receipt after 30 seconds, across a restart', async () => {
    const clock = testClock()
    const countersign = await start({ bootstrap: bootstrapFile(), clock })
    const sentAt = clock.now()
    const otp_id = await send(countersign, '+15005550012')
    await waitForDeliveries(countersign, otp_id, [['sms', 'sent']])
    await clock.advance(20_000)
    const restarting = countersign.restart() // stopping waits by the clock, so the clock advances below
    const state = promiseState(restarting)
    while (state.state === 'pending') await clock.advance(clock.now() < sentAt + 28_900 ? 10 : 0)
    const after = await restarting
    await clock.advance(sentAt + 29_000 - clock.now())
    expect(await deliveries(after, otp_id)).to.deep.equal([['sms', 'sent']])
    await eventually(async () => {
      await clock.advance(1_000)
      expect(await deliveries(after, otp_id)).to.deep.equal([['sms', 'delivered']])
    })
    expect(await inbox(after, '+15005550012')).to.have.length(1)
  })
}

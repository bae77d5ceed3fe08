// What a developer with a test key sees: a code that arrives in the inbox, receipts and events as from a real vendor.
import { expect } from 'chai'
import { testClock } from '../support/clock.ts'
import { type Countersign, describeCountersign, type StartCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { promiseState } from '../support/promise-state.ts'

const KEY = 'sk_test_0123456789'

const tenants = (settings: object = {}) => ({
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

const send = async (at: Countersign, recipient: string, more: object = {}): Promise<string> =>
  (await call<Status>(at, '/api/v1/otp/send', KEY, { recipient, ...more })).otp_id

async function deliveries(at: Countersign, otp_id: string): Promise<[channel: string, status: string][]> {
  const { deliveries } = await call<Status>(at, `/api/v1/otp/${otp_id}`, KEY)
  return deliveries.map(({ channel, status }) => [channel, status])
}

const become = (at: Countersign, otp_id: string, expected: [string, string][]) =>
  eventually(async () => expect(await deliveries(at, otp_id)).to.deep.equal(expected))

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
const inbox = (at: Countersign, recipient: string): Promise<Message[]> =>
  call(
    at,
    `/admin/v1/sandbox/messages?recipient=${encodeURIComponent(recipient)}`,
    at.secrets.adminTokens[0]?.token ?? '',
  )

describeCountersign('the sandbox, over HTTP', (start, engines) => {
  it('delivers a code into the inbox, which verifies', async () => {
    const at = await start({ bootstrap: tenants() })
    const otp_id = await send(at, '+14155552671', { locale: 'de-AT' })
    await become(at, otp_id, [['sms', 'delivered']])
    const [message] = await inbox(at, '+14155552671')
    expect(message).to.include({ otp_id, text: `${message?.code} ist Ihr Shop-Bestätigungscode.` })
    const verified = await call<Status>(at, '/api/v1/otp/verify', KEY, { otp_id, code: message?.code })
    expect(verified.status).to.equal('approved')
    await eventually(async () =>
      expect((await events(at, otp_id)).sort()).to.deep.equal(['delivery.delivered', 'otp.approved']),
    )
  })

  it('plays every magic recipient, each event once', async () => {
    const at = await start({ bootstrap: tenants() })
    const magic: [string, string, string[]][] = [
      ['+15005550010', 'delivered', ['delivery.delivered']],
      ['+15005550011', 'failed', ['delivery.failed']],
      ['+15005550013', 'delivered', ['delivery.delivered']],
      ['+15005550014', 'delivered', ['delivery.delivered']],
      ['+15005550015', 'sent', []],
    ]
    for (const [recipient, status, happened] of magic) {
      const otp_id = await send(at, recipient)
      await become(at, otp_id, [['sms', status]])
      await quiet(at)
      expect(await deliveries(at, otp_id), recipient).to.deep.equal([['sms', status]])
      expect(await events(at, otp_id), recipient).to.deep.equal(happened)
    }
  })

  it('fails on the first channel and goes on to the next', async () => {
    const at = await start({ bootstrap: tenants({ auto_fallback: true }) })
    const otp_id = await send(at, '+15005550016')
    await become(at, otp_id, [
      ['sms', 'failed'],
      ['whatsapp', 'delivered'],
    ])
    const codes = (await inbox(at, '+15005550016')).map(({ code }) => code)
    expect(codes).to.have.length(2)
    expect(new Set(codes)).to.have.property('size', 1)
  })

  it('goes to the inbox by email', async () => {
    const at = await start({ bootstrap: tenants() })
    const otp_id = await send(at, 'ada@example.com')
    await become(at, otp_id, [['email', 'delivered']])
    const [message] = await inbox(at, 'ada@EXAMPLE.com')
    expect(message?.text).to.match(/^\d{6} is your Shop verification code\.\n\nIt is valid for 10 min\./)
  })

  it('says code and recipient nowhere else: not in a log, a stored document or a message', async () => {
    const published: unknown[] = []
    const at = await start({
      bootstrap: tenants(),
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
    const otp_id = await send(at, '+14155552671')
    await become(at, otp_id, [['sms', 'delivered']])
    const [message] = await inbox(at, '+14155552671')
    await quiet(at)
    const docs = at.engines.store.docs.bind(at.engines.store)
    const stored = await Promise.all([
      docs('otps').get([otp_id]),
      docs('sandbox_messages').find({}, { sort: { _id: 1 }, limit: 10 }),
      docs('attempts').find({}, { sort: { _id: 1 }, limit: 10 }),
      docs('events').find({ app_id: 'app_shop' }, { sort: { _id: -1 }, limit: 10 }),
    ])
    const traces = JSON.stringify([[...stored[0].values()], ...stored.slice(1), published, at.log.output()])
    expect(published.length).to.be.greaterThan(2)
    expect(traces).to.include(otp_id)
    for (const secret of [message?.code ?? '', '4155552671', message?.text ?? '']) {
      expect(secret).not.to.equal('')
      expect(traces).not.to.match(new RegExp(`(?<![0-9a-z])${secret}(?![0-9a-z])`))
    }
  })

  /** Every receipt of what was sent so far is played and handled. */
  const quiet = (at: Countersign) =>
    eventually(async () => {
      const stuck = await at.engines.store.docs('otps').find({ app_id: 'app_shop' }, { sort: { _id: -1 }, limit: 50 })
      const waiting = stuck.filter(({ outbox }) => outbox.length > 0)
      expect(waiting.map(({ _id }) => _id)).to.deep.equal([])
      for (const queue of ['channel.sms', 'otp.reports', 'webhook.deliver'] as const)
        expect((await at.engines.broker.depth(queue)).ready).to.equal(0)
    })

  if (engines === 'embedded') describe('as time goes by', () => lateReceipts(start))
})

/** Time is fake here, so on embedded engines only. */
function lateReceipts(start: StartCountersign): void {
  it('plays a late receipt after 30 s, across a restart', async () => {
    const clock = testClock()
    const at = await start({ bootstrap: tenants(), clock })
    const begun = clock.now()
    const otp_id = await send(at, '+15005550012')
    await become(at, otp_id, [['sms', 'sent']])
    await clock.advance(20_000)
    const restarting = at.restart() // what it waits for while stopping is by the clock, too
    const state = promiseState(restarting)
    while (state.state === 'pending') await clock.advance(clock.now() < begun + 28_900 ? 10 : 0)
    const after = await restarting
    await clock.advance(begun + 29_000 - clock.now())
    expect(await deliveries(after, otp_id)).to.deep.equal([['sms', 'sent']])
    await eventually(async () => {
      await clock.advance(1_000)
      expect(await deliveries(after, otp_id)).to.deep.equal([['sms', 'delivered']])
    })
    expect(await inbox(after, '+15005550012')).to.have.length(1)
  })
}

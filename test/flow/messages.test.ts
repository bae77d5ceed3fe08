// The delivery of a code that the caller made: POST /messages.
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type Answer, ask, refusal } from '../support/api-caller.ts'
import { freshNumber, type Tenant } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

const MINUTE_MS = 60_000

describeFlowOnce('a message with a code of the caller', flow => {
  const post = (key: string, body: object, idempotency = ''): Promise<Answer> =>
    ask(`${flow.countersign.url}/api/v1/messages`, {
      method: 'POST',
      token: key,
      body: JSON.stringify(body),
      headers: idempotency === '' ? {} : { 'idempotency-key': idempotency },
    })
  const read = (key: string, id: string): Promise<Answer> =>
    ask(`${flow.countersign.url}/api/v1/messages/${id}`, { token: key })

  async function waitForStatus({ server }: Tenant, id: string, status: string): Promise<Answer['body']> {
    return flow.eventually(async () => {
      const { body } = await read(server.key, id)
      expect(body.status).to.equal(status)
      return body
    })
  }

  it('is routed, rendered in the texts of the app, delivered and told by an event that names it twice', async () => {
    const tenant = await flow.createTenant({ texts: { sms: { en: { text: '{code} opens {app}.' } } } })
    const to = freshNumber()
    const { status, body } = await post(tenant.server.key, { recipient: to, code: 'aB3x9', client_ip: '8.8.8.8' })
    expect(status, JSON.stringify(body)).to.equal(200)
    const id = body.message_id
    expect(id).to.match(/^msg_[0-9a-z]{26}$/)
    const masked_recipient = `+1****${to.slice(-2)}`
    expect(body).to.deep.equal({ message_id: id, status: 'pending', channel: 'sms', masked_recipient })
    expect(await flow.waitForCode(to)).to.equal('aB3x9')
    const details = await waitForStatus(tenant, id, 'delivered')
    expect(details.deliveries).to.have.length(1)
    expect(details.deliveries[0]).to.include({ channel: 'sms', status: 'delivered' })
    const shown = { otp_id: id, code: 'aB3x9', text: 'aB3x9 opens Shop.' }
    expect((await flow.inbox(to))[0], 'the inbox still shows it').to.deep.include(shown)
    const events = await flow.eventually(async () => {
      const found = await flow.events(tenant.app)
      expect(found).to.have.length(1)
      return found
    })
    const { delivery_id } = details.deliveries[0]
    const payload = { otp_id: id, message_id: id, delivery_id, status: 'delivered' }
    expect(events[0]).to.deep.include({ type: 'delivery.delivered', payload })
  })

  it('has its code sealed while it waits, and erased once it has ended', async () => {
    const tenant = await flow.createTenant()
    const { store } = flow.countersign.engines
    const codeOf = async (id: string) => (await store.docs('otps').get([id])).get(id)?.context.code
    const late = (await post(tenant.server.key, { recipient: '+15005550012', code: '77345201' })).body.message_id
    const waiting = await codeOf(late)
    expect(waiting).to.have.property('given').that.is.a('string')
    expect(JSON.stringify(waiting)).not.to.include('77345201')
    const ends: [string, string][] = [
      ['+15005550010', 'delivered'],
      ['+15005550011', 'failed'],
    ]
    for (const [recipient, status] of ends) {
      const { message_id } = (await post(tenant.server.key, { recipient, code: '77345201' })).body
      await waitForStatus(tenant, message_id, status)
      expect(await codeOf(message_id), status).to.deep.equal({ given: null })
    }
    const { message_id } = (await post(tenant.server.key, { recipient: '+15005550015', code: '77345201' })).body
    await flow.advance(10 * MINUTE_MS)
    expect((await read(tenant.server.key, message_id)).body.status).to.equal('expired')
    await flow.eventually(async () => expect(await codeOf(message_id)).to.deep.equal({ given: null }))
  })

  it('is no verification: nothing verifies, resends, cancels or shows it', async () => {
    const { server, app } = await flow.createTenant()
    const to = freshNumber()
    const { message_id } = (await post(server.key, { recipient: to, code: '482913' })).body
    await flow.waitForCode(to)
    const notFound = { status: 404, type: 'OtpNotFoundError' }
    for (const answer of [
      await server.verify(message_id, '482913'),
      await server.resend(message_id),
      await server.cancel(message_id),
      await server.status(message_id),
      await read(server.key, 'msg_01k2m8x4e9s7v3hqz5tnw6yb0c'),
    ])
      expect(refusal(answer)).to.include(notFound)
    const other = await flow.createTenant()
    expect(refusal(await read(other.server.key, message_id)), 'of another app').to.include(notFound)
    for (const command of ['resend', 'cancel'])
      expect((await flow.admin('POST', `/verifications/${message_id}/${command}`)).status, command).to.equal(404)
    const { otp_id } = (await server.send(freshNumber())).body
    expect(refusal(await read(server.key, otp_id)), 'a verification is no message').to.include(notFound)
    const shown = { otp_id: message_id, kind: 'message', attempts_left: 0, resend_at: null, app_id: app }
    expect((await flow.admin('GET', `/verifications/${message_id}`)).body).to.include(shown)
  })

  it('shares limits and magic recipients with sends, and no idempotency key', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: [{ max: 2, seconds: 600 }] } })
    const [to, idempotency] = [freshNumber(), randomUUID()]
    const sent = await server.send(to, { idempotency })
    expect(sent.status).to.equal(200)
    const first = await post(server.key, { recipient: to, code: '482913' }, idempotency)
    expect(first.body.message_id).to.match(/^msg_/)
    const replay = await post(server.key, { recipient: freshNumber(), code: '000000' }, idempotency)
    expect(replay.text).to.equal(first.text)
    expect(replay.headers.get('idempotent-replayed')).to.equal('true')
    expect(refusal(await post(server.key, { recipient: to, code: '482914' }))).to.include({
      type: 'RateLimitExceededError',
      scope: 'recipient',
    })
    expect(refusal(await post(server.key, { recipient: '+15005550003', code: '482913' })).type).to.equal(
      'GeoBlockedError',
    )
  })

  it('is sent once where it is asked for twice within a minute, unless idempotency keys say otherwise', async () => {
    const { server } = await flow.createTenant()
    const to = freshNumber()
    const body = { recipient: to, code: '482913' }
    const together = await Promise.all([1, 2, 3].map(() => post(server.key, body)))
    const ids = new Set(together.map(answer => answer.body.message_id))
    expect([...ids], together.map(({ text }) => text).join()).to.have.length(1)
    const again = await post(server.key, { recipient: to, code: '482913' })
    expect([again.body.message_id, again.headers.get('idempotent-replayed')]).to.deep.equal([...ids, 'true'])
    const [first, second] = [randomUUID(), randomUUID()]
    const other = { recipient: freshNumber(), code: '482913' }
    const keyed = (await post(server.key, other, first)).body.message_id
    expect((await post(server.key, other, first)).body.message_id).to.equal(keyed)
    expect((await post(server.key, other)).body.message_id, 'without a key').to.equal(keyed)
    expect((await post(server.key, other, second)).body.message_id).not.to.be.oneOf([keyed, ...ids])
    await flow.waitForCode(to)
    await flow.advance(MINUTE_MS)
    expect((await post(server.key, body)).body.message_id).not.to.be.oneOf([...ids])
    await flow.waitForCode(to, 2)
    const { store } = flow.countersign.engines
    const claims = await store.docs('claims').find({}, { sort: { _id: 1 }, limit: 1_000 })
    expect(JSON.stringify(claims)).not.to.match(/482913|1415556/)
  })

  it('says how long its code is good for where its caller tells it, and is then sent for no longer', async () => {
    const settings = { texts: { sms: { en: { text: '{code} opens {app} for {minutes} minutes.' } } } }
    const tenant = await flow.createTenant(settings)
    const textOf = async (more: object, at = freshNumber()) => {
      const { status, text } = await post(tenant.server.key, { recipient: at, code: '482913', ...more })
      expect(status, text).to.equal(200)
      await flow.waitForCode(at)
      return (await flow.inbox(at))[0]?.text
    }
    expect(await textOf({ expires_in_seconds: 300 })).to.equal('482913 opens Shop for 5 minutes.')
    for (const untold of [{}, { expires_in_seconds: null }, { expires_in_seconds: 30 }])
      expect(await textOf(untold), 'the built-in text').to.equal('482913 is your Shop verification code.')
    const silent = { recipient: '+15005550015', code: '482913', expires_in_seconds: 60 }
    const { message_id } = (await post(tenant.server.key, silent)).body
    await flow.advance(MINUTE_MS)
    await waitForStatus(tenant, message_id, 'expired')
  })

  it('falls back to the next channel, and is found, listed in the order of time, and erased', async () => {
    const tenant = await flow.createTenant({ auto_fallback: true, routing: { default: ['sms', 'telegram'] } })
    const { server, app } = tenant
    const moved = (await post(server.key, { recipient: '+15005550016', code: '482913' })).body.message_id
    const { deliveries } = await waitForStatus(tenant, moved, 'delivered')
    expect(deliveries.map((one: { channel: string }) => one.channel)).to.deep.equal(['sms', 'telegram'])
    const to = freshNumber()
    const ids: string[] = []
    for (const nth of [1, 2, 3, 4]) {
      await flow.advance(2)
      const answer =
        nth % 2 === 0 ? await post(server.key, { recipient: to, code: `48291${nth}` }) : await server.send(to)
      ids.unshift(answer.body.message_id ?? answer.body.otp_id)
    }
    const list = async (query: string) => (await flow.admin('GET', `/apps/${app}/verifications?${query}`)).body
    const recipient = encodeURIComponent(to)
    const idsOf = (page: { items: { otp_id: string }[] }) => page.items.map(({ otp_id }) => otp_id)
    expect(idsOf(await list(`recipient=${recipient}`))).to.deep.equal(ids)
    expect(idsOf(await list('status=delivered'))).to.include(moved)
    const erased = await flow.admin('POST', `/apps/${app}/erase`, { recipient: to })
    expect(erased.body.verifications, erased.text).to.equal(4)
    expect(idsOf(await list(`recipient=${recipient}`))).to.deep.equal([])
    expect((await read(server.key, ids[0] ?? '')).status).to.equal(404)
    expect(await flow.inbox(to)).to.deep.equal([])
  })
})

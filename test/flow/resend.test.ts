import { expect } from 'chai'
import { refusal } from '../support/api-caller.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber, wrongCode } from '../support/flow.ts'
import { describeFlow, FLOW_APP_KEYS } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

const notAllowed = (cause: string) => ({ type: 'ResendNotAllowedError', status: 409, cause })
const SPENT = notAllowed('send_attempts_spent')
const NO_COOLDOWN = { resend_cooldown_seconds: [0] }

describeFlow('a resend', (flow, engines) => {
  const itOnce = itOnceOf(engines)
  it('is what a second send is in an app with reuse_pending, under an id of its own', async () => {
    const { server, device } = await flow.createTenant({ reuse_pending: true, publishable_send: true })
    const to = freshNumber()
    const first = await server.send(to, { idempotency: `one ${to}` })
    const { otp_id } = first.body
    const code = await flow.waitForCode(to)
    const early = await server.send(to)
    expect(refusal(early)).to.deep.include({ type: 'ResendCooldownError', status: 429, scope: 'resend_cooldown' })
    flow.expectRetryAfter(early, 30)
    const replayed = await server.send(to, { idempotency: `one ${to}` })
    expect(replayed.body, 'a replay is none').to.deep.equal(first.body)
    expect(replayed.headers.get('idempotent-replayed')).to.equal('true')
    const byDevice = await device.send(to)
    expect(byDevice.body.otp_id, 'a stranger cannot be handed it').not.to.equal(otp_id)
    expect((await device.send(to)).body.otp_id, 'nor that of another device').not.to.equal(byDevice.body.otp_id)
    await flow.waitForCode(to, 3)

    await flow.advance(30_000)
    const idempotency = `two ${to}`
    const both = await Promise.all([server.send(to, { idempotency }), server.send(to, { idempotency })])
    const joined = both[0].body.otp_id
    expect(joined).not.to.equal(otp_id)
    expect(both.map(({ body }) => body.otp_id)).to.deep.equal([joined, joined])
    expect(both.map(({ body }) => body.channel)).to.deep.equal(['whatsapp', 'whatsapp'])
    expect(both.map(({ headers }) => headers.get('idempotent-replayed')).sort()).to.deep.equal([null, 'true'].sort())
    await flow.waitForCode(to, 4)
    expect((await server.send(to, { idempotency })).body.otp_id, 'in the cooldown too').to.equal(joined)
    for (const id of [otp_id, joined]) expect((await server.status(id)).body.deliveries).to.have.length(2)

    expect((await server.verify(otp_id, code)).body.matched).to.equal(true)
    const fresh = (await server.send(to)).body.otp_id
    expect((await server.status(fresh)).body.deliveries, 'once it has ended').to.have.length(1)
    expect((await server.send(to, { idempotency })).body, 'as it was answered then').to.deep.equal(both[0].body)
  })

  itOnce('that a second send is approves no stranger who sent first, and leaves all guesses', async () => {
    const tenant = await flow.createTenant({ reuse_pending: true, ...NO_COOLDOWN })
    const { server, device, app } = tenant
    const to = freshNumber()
    const stranger = (await server.send(to, { metadata: { session: 'stranger' } })).body.otp_id
    const user = (await server.send(to, { metadata: { session: 'user' } })).body.otp_id
    const other = (await server.send(to)).body.otp_id
    const code = await flow.waitForCode(to, 3)
    for (let left = 4; left >= 0; left -= 1)
      expect((await server.verify(stranger, wrongCode(code))).body).to.include({
        otp_id: stranger,
        attempts_left: left,
      })
    expect(refusal(await server.verify(stranger, code))).to.include({ status: 409, otp_status: 'failed' })
    expect(refusal(await server.resend(stranger))).to.include({ cause: 'not_pending', otp_status: 'failed' })
    expect((await server.cancel(other)).body).to.include({ otp_id: other, status: 'canceled' })
    expect((await server.status(user)).body).to.include({ otp_id: user, status: 'pending', attempts_left: 5 })

    const verified = await device.verify(user, code)
    expect(verified.body).to.include({ otp_id: user, matched: true })
    const exchanged = await server.exchange(verified.body.verification_token)
    expect(exchanged.body).to.include({ otp_id: user, recipient: to })
    const states = await Promise.all([stranger, user, other].map(id => server.status(id)))
    expect(states.map(({ body }) => [body.status, body.verified_at === null, body.metadata?.session])).to.deep.equal([
      ['failed', true, 'stranger'],
      ['approved', false, 'user'],
      ['canceled', true, undefined],
    ])
    expect(refusal(await server.verify(other, code))).to.include({ status: 409, otp_status: 'canceled' })

    const events = await eventually(async () => {
      const { items } = (await flow.admin('GET', `/apps/${app}/events`)).body
      const ends = items.filter(({ type }: { type: string }) => type.startsWith('otp.'))
      expect(ends).to.have.length(2)
      return ends.map(({ type, payload }: { type: string; payload: { otp_id: string } }) => [type, payload.otp_id])
    })
    expect(events).to.have.deep.members([
      ['otp.failed', stranger],
      ['otp.approved', user],
    ])
    for (const id of [stranger, user, other]) {
      const history = (await flow.admin('GET', `/verifications/${id}`)).body
      expect(history, 'found by each id').to.include({ otp_id: stranger, status: 'approved', wrong_codes: 5 })
      expect(history.joined.map((one: { otp_id: string }) => one.otp_id)).to.deep.equal([user, other])
      const joined = history.timeline.filter(({ happened }: { happened: string }) => happened === 'otp.joined')
      expect(joined).to.have.length(2)
    }
  })

  itOnce('that a second send is counts as a send: ids, and so guesses, are no more than sends', async () => {
    const limits = { recipient: [{ max: 2, seconds: 600 }] }
    const { server } = await flow.createTenant({ reuse_pending: true, limits, ...NO_COOLDOWN })
    const to = freshNumber()
    const { otp_id } = (await server.send(to)).body
    expect((await server.send(to)).status).to.equal(200)
    expect(refusal(await server.send(to))).to.deep.include({ type: 'RateLimitExceededError', scope: 'recipient' })
    expect((await server.resend(otp_id)).status, 'a resend makes no id').to.equal(200)
  })

  itOnce('is no second send where a message approves: it would approve the first session', async () => {
    const channels = { whatsapp: { mode: 'link_inbound', business_number: '+15005550100' } }
    const settings = { reuse_pending: true, channels, routing: { default: ['whatsapp'] }, ...NO_COOLDOWN }
    const { server } = await flow.createTenant(settings)
    const to = freshNumber()
    const [first, second] = [await server.send(to), await server.send(to)]
    expect([first.status, first.body.completion]).to.deep.equal([200, 'inbound'])
    expect(second.body.otp_id).to.be.a('string').and.not.to.equal(first.body.otp_id)
  })

  itOnce('by a person of the company has the rules of any other, and is in the audit log', async () => {
    const { company, app, server } = await flow.createTenant({ send_attempts: 3 })
    const { otp_id, to, code } = await flow.startVerification(server)
    const byPerson = (body?: object) => flow.admin('POST', `/verifications/${otp_id}/resend`, body)
    const early = await byPerson()
    expect(refusal(early)).to.deep.include({ type: 'ResendCooldownError', status: 429, scope: 'resend_cooldown' })
    flow.expectRetryAfter(early, 30)
    await flow.advance(30_000)
    expect((await byPerson()).body).to.include({ otp_id, channel: 'whatsapp', sends: 2 })
    expect(await flow.waitForCode(to, 2), 'the same code').to.equal(code)
    await flow.advance(60_000)
    expect((await byPerson({ channel: 'sms' })).body).to.include({ channel: 'sms', sends: 3, generation: 2 })
    expect(refusal(await byPerson())).to.deep.equal(SPENT)
    const { items } = (await flow.admin('GET', `/audit?company_id=${company}`)).body
    const records = items.filter(({ action }: { action: string }) => action === 'verification.resend')
    const outcomes = records.map(({ outcome }: { outcome: string }) => outcome)
    expect(outcomes).to.have.members(['undone', 'done', 'done', 'undone'])
    await flow.admin('PATCH', `/apps/${app}`, { closed: true })
    expect((await byPerson()).status, 'a closed app sends nothing').to.equal(409)
  })

  itOnce('by a live publishable key needs publishable_send, and costs nothing without it', async () => {
    const live = flow.caller(FLOW_APP_KEYS.live)
    const { otp_id } = await flow.startVerification(live)
    await flow.advance(30_000)
    const device = await flow.createKey('app_flow', 'publishable', 'live')
    const disabled = { type: 'PublishableSendDisabledError', status: 403 }
    for (const channel of [undefined, 'sms'])
      expect(refusal(await device.resend(otp_id, channel))).to.deep.equal(disabled)
    expect((await live.status(otp_id)).body.deliveries).to.have.length(1)
    expect((await live.resend(otp_id)).status, 'the server may').to.equal(200)
  })

  it('is accepted once when many arrive at the same time', async () => {
    const { server } = await flow.createTenant()
    const { otp_id, to } = await flow.startVerification(server)
    await flow.advance(30_000)
    const answers = await flow.advanceUntil(Promise.all(Array.from({ length: 8 }, () => server.resend(otp_id))))
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
    expect(answers.filter(({ body }) => body.type === 'ResendCooldownError')).to.have.length(7)
    await flow.waitForCode(to, 2)
  })

  itOnce('is refused when the client address of the send has become abusive', async () => {
    const { server } = await flow.createTenant(NO_COOLDOWN)
    const to = freshNumber()
    const client_ip = '91.240.118.5'
    const { otp_id } = (await server.send(to, { client_ip })).body
    expect((await server.resend(otp_id)).body.channel).to.equal('whatsapp')
    const put = (lists: object[]) => flow.admin('PUT', '/ip-lists', { lists })
    await put([{ class: 'abusive', name: 'resend', cidrs: [client_ip] }])
    await flow.eventually(async () => {
      const { items } = (await flow.admin('GET', '/ip-lists')).body
      expect(items.find(({ name }: { name: string }) => name === 'resend').status).to.equal('ready')
    })
    await flow.advance(5_000)
    expect(refusal(await server.resend(otp_id))).to.deep.equal({ type: 'IpReputationBlockedError', status: 403 })
    await put([])
  })

  itOnce('is refused when the recipient’s country has been blocked since the send', async () => {
    const { app, server } = await flow.createTenant(NO_COOLDOWN)
    const { body } = await server.send('+4915112345678')
    await flow.changeSettings(app, { blocked_countries: ['DE'] })
    expect(refusal(await server.resend(body.otp_id))).to.deep.equal({ type: 'GeoBlockedError', status: 403 })
  })
})

import { expect } from 'chai'
import { type Caller, refusal } from '../support/api-caller.ts'
import { freshNumber, wrongCode } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'

const NOT_ALLOWED = { type: 'ResendNotAllowedError', status: 409 }
const AT_ONCE = { resend_cooldown_seconds: [0] }

describeFlow('resending', flow => {
  const channelOf = async (by: Caller, otp_id: string, channel?: string): Promise<string> => {
    const { status, body, text } = await by.resend(otp_id, channel)
    expect(status, text).to.equal(200)
    return body.channel
  }

  it('goes through the order with the same code, then repeats the last channel until the sends are spent', async () => {
    const { server } = await flow.createTenant(AT_ONCE)
    const { otp_id, to, code } = await flow.startVerification(server)
    const resends = []
    for (let nth = 0; nth < 4; nth += 1) resends.push(await channelOf(server, otp_id))
    expect(resends).to.deep.equal(['whatsapp', 'telegram', 'telegram', 'telegram'])
    expect(refusal(await server.resend(otp_id))).to.deep.equal(NOT_ALLOWED)
    expect(refusal(await server.resend(otp_id, 'sms')), 'not by name either').to.deep.equal(NOT_ALLOWED)

    await flow.waitForCode(to, 5)
    const arrived = await flow.inbox(to)
    expect(arrived.map(({ channel }) => channel).sort()).to.deep.equal(['sms', ...resends].sort())
    expect(new Set(arrived.map(message => message.code))).to.deep.equal(new Set([code]))
    expect((await server.status(otp_id)).body).to.include({ channel: 'telegram', resend_at: null })
    expect((await server.verify(otp_id, code)).body.matched).to.equal(true)
  })

  it('waits for the cooldown, which grows; who comes too early is told how long and loses nothing', async () => {
    const { server } = await flow.createTenant()
    const { otp_id } = await flow.startVerification(server)
    for (const seconds of [30, 60, 120, 120]) {
      const early = await server.resend(otp_id)
      expect(refusal(early)).to.deep.include({ type: 'ResendCooldownError', status: 429, scope: 'resend_cooldown' })
      flow.expectRetryAfter(early, seconds)
      await flow.advance(seconds * 500)
      flow.expectRetryAfter(await server.resend(otp_id), seconds / 2)
      await flow.advance(seconds * 500)
      expect((await server.resend(otp_id)).status).to.equal(200)
    }
    expect(refusal(await server.resend(otp_id)), 'spent before it is cooling').to.deep.equal(NOT_ALLOWED)
  })

  it('passes once where many try at once', async () => {
    const { server } = await flow.createTenant()
    const { otp_id, to } = await flow.startVerification(server)
    await flow.advance(30_000)
    const answers = await flow.advanceUntil(Promise.all(Array.from({ length: 8 }, () => server.resend(otp_id))))
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
    expect(answers.filter(({ body }) => body.type === 'ResendCooldownError')).to.have.length(7)
    await flow.waitForCode(to, 2)
  })

  it('to a named channel makes a fresh code; the old one is a wrong one', async () => {
    const { server } = await flow.createTenant(AT_ONCE)
    const { otp_id, to, code } = await flow.startVerification(server)
    expect(await channelOf(server, otp_id, 'telegram')).to.equal('telegram')
    const second = await flow.waitForCode(to, 2)
    expect(await channelOf(server, otp_id, 'telegram'), 'also where it is already').to.equal('telegram')
    const third = await flow.waitForCode(to, 3)
    expect(new Set([code, second, third])).to.have.property('size', 3)
    expect((await server.verify(otp_id, code)).body).to.include({ matched: false, attempts_left: 4 })
    expect((await server.verify(otp_id, second)).body).to.include({ matched: false, attempts_left: 3 })
    expect((await server.verify(otp_id, third)).body).to.include({ matched: true, attempts_left: 3 })
  })

  it('does not give wrong guesses back', async () => {
    const { server } = await flow.createTenant({ ...AT_ONCE, verify_attempts: 2 })
    const { otp_id, to, code } = await flow.startVerification(server)
    await server.verify(otp_id, wrongCode(code))
    await server.resend(otp_id, 'whatsapp')
    const fresh = await flow.waitForCode(to, 2)
    expect((await server.verify(otp_id, wrongCode(fresh))).body).to.include({ status: 'failed', attempts_left: 0 })
  })

  it('to what cannot reach the recipient, is disabled or is no channel is refused and costs nothing', async () => {
    const { server } = await flow.createTenant({
      ...AT_ONCE,
      send_attempts: 2,
      channels: { telegram: { enabled: false } },
    })
    const { otp_id } = await flow.startVerification(server)
    expect(refusal(await server.resend(otp_id, 'email'))).to.deep.equal(NOT_ALLOWED)
    expect(refusal(await server.resend(otp_id, 'telegram'))).to.deep.equal(NOT_ALLOWED)
    expect(refusal(await server.resend(otp_id, 'pigeon'))).to.deep.include({ type: 'ValidationError', status: 422 })
    expect(await channelOf(server, otp_id, 'whatsapp')).to.equal('whatsapp')
  })

  it('keeps to the order of the send, as far as it is usable now', async () => {
    const { app, server } = await flow.createTenant(AT_ONCE)
    const { otp_id } = await flow.startVerification(server)
    await flow.changeSettings(app, { channels: { whatsapp: { enabled: false } }, routing: { default: ['email'] } })
    expect(await channelOf(server, otp_id)).to.equal('telegram')
    await flow.changeSettings(app, { channels: { telegram: { enabled: false }, sms: { enabled: false } } })
    expect(refusal(await server.resend(otp_id))).to.deep.equal(NOT_ALLOWED)
    await flow.changeSettings(app, { channels: { sms: { enabled: true } } })
    expect(await channelOf(server, otp_id), 'the last usable one').to.equal('sms')
  })

  it('after a named channel outside the order goes on with what was not tried', async () => {
    const { server } = await flow.createTenant({ ...AT_ONCE, routing: { default: ['sms', 'telegram'] } })
    const { otp_id } = await flow.startVerification(server)
    expect(await channelOf(server, otp_id, 'whatsapp')).to.equal('whatsapp')
    expect(await channelOf(server, otp_id)).to.equal('telegram')
  })

  it('prolongs the life of the code, but never beyond three lifetimes of the first', async () => {
    const { server } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    const { created_at } = (await server.status(otp_id)).body
    const life = async () => Date.parse((await server.status(otp_id)).body.expires_at) - Date.parse(created_at)
    expect(await life()).to.equal(600_000)
    for (let nth = 0; nth < 3; nth += 1) {
      await flow.advance(550_000)
      await server.resend(otp_id)
    }
    expect(await life()).to.equal(1_800_000)
    await flow.advance(150_000)
    expect((await server.verify(otp_id, code)).status).to.equal(410)
  })

  it('counts among the messages of a recipient', async () => {
    const limits = { recipient_messages: [{ max: 2, seconds: 3600 }] }
    const { server } = await flow.createTenant({ ...AT_ONCE, limits })
    const { otp_id, to } = await flow.startVerification(server)
    await server.resend(otp_id)
    const third = await server.resend(otp_id)
    expect(refusal(third)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'recipient' })
    expect((await server.send(to)).body.scope, 'a send is a message, too').to.equal('recipient')
    expect((await server.status(otp_id)).body, 'nothing was spent').to.include({ channel: 'whatsapp' })
    await flow.advance(7_200_000)
    expect((await server.send(to)).status).to.equal(200)
  })

  it('is judged by the address of the send as it is known now', async () => {
    const { server } = await flow.createTenant(AT_ONCE)
    const to = freshNumber()
    const client_ip = '91.240.118.5'
    const { otp_id } = (await server.send(to, { client_ip })).body
    expect(await channelOf(server, otp_id)).to.equal('whatsapp')
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
})

import { expect } from 'chai'
import { ask, type Caller, refusal } from '../support/api-caller.ts'
import { freshNumber } from '../support/flow.ts'
import { ABUSIVE_IP, describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

describeFlow('a send', (flow, engines) => {
  const itOnce = itOnceOf(engines)
  it('answers with the new verification, and the code arrives', async () => {
    const { server } = await flow.createTenant()
    const to = freshNumber()
    const { status, body } = await server.send(to)
    expect(status).to.equal(200)
    expect(body).to.deep.equal({
      otp_id: body.otp_id,
      status: 'pending',
      channel: 'sms',
      masked_recipient: `+1****${to.slice(-2)}`,
      action_url: null,
      completion: 'code',
    })
    expect(body.otp_id).to.match(/^otp_[0-9a-z]{26}$/)
    const code = await flow.waitForCode(to)
    expect(code).to.match(/^\d{6}$/)
    const [message] = await flow.inbox(to)
    expect(message).to.include({ otp_id: body.otp_id, channel: 'sms', recipient: to })
    expect(message?.text).to.include(code)
  })

  itOnce('ends a text with the hash or the domain that it names, and with that of its page', async () => {
    const sms = { domains: ['shop.example', 'pay.example'], android_hashes: ['FA+9qCX9VSu'] }
    const { server, device } = await flow.createTenant({ channels: { sms } })
    const endingOf = async (to: string) => {
      await flow.waitForCode(to)
      return (await flow.inbox(to))[0]?.text.split('\n').at(-1)?.replace(/\d{6}/, '…')
    }
    const sent = async (by: Caller, named: object, headers: Record<string, string> = {}) => {
      const [to, token] = [freshNumber(), by.key]
      const body = JSON.stringify({ recipient: to, ...named })
      const answer = await ask(`${flow.countersign.url}/api/v1/otp/send`, { method: 'POST', token, headers, body })
      return answer.status === 200 ? endingOf(to) : refusal(answer).errors
    }
    expect(await sent(server, {})).to.equal('@shop.example #…')
    expect(await sent(server, { domain: 'pay.example' })).to.equal('@pay.example #…')
    expect(await sent(server, { app_hash: 'FA+9qCX9VSu', domain: 'pay.example' })).to.equal('FA+9qCX9VSu')
    expect(await sent(device, { app_hash: 'FA+9qCX9VSu' })).to.equal('FA+9qCX9VSu')
    expect(await sent(device, {}, { Origin: 'https://www.pay.example' })).to.equal('@pay.example #…')
    expect(await sent(device, {}, { Origin: 'https://notpay.example' }), 'of no domain').to.equal('@shop.example #…')
    expect(await sent(server, { app_hash: 'AAAAAAAAAAA', domain: 'evil.example' })).to.deep.equal([
      { path: 'app_hash', message: 'must be one of the Android hashes of the app' },
      { path: 'domain', message: 'must be one of the domains of the app' },
    ])
    expect(await sent(device, { domain: 'pay.example' })).to.deep.equal([
      { path: 'domain', message: 'must not be sent with a publishable key' },
    ])
  })

  itOnce('is refused for its recipient, country, channel and address, checked in this order', async () => {
    const settings = { blocked_countries: ['US'], routing: { default: ['sms'] } }
    const { app, server } = await flow.createTenant(settings)
    const from = { client_ip: ABUSIVE_IP }
    expect(refusal(await server.send('+1415', from))).to.deep.equal({ type: 'InvalidRecipientError', status: 422 })
    expect(refusal(await server.send('someone', from))).to.deep.equal({ type: 'InvalidRecipientError', status: 422 })
    expect(refusal(await server.send(freshNumber(), from))).to.deep.equal({ type: 'GeoBlockedError', status: 403 })
    expect(refusal(await server.send('a@example.com', from))).to.include({
      type: 'NoEnabledChannelError',
      status: 409,
    })
    expect(refusal(await server.send('+5511987654321', from))).to.deep.equal({
      type: 'IpReputationBlockedError',
      status: 403,
    })
    const live = await flow.createKey(app, 'server', 'live')
    expect((await live.send('+15005550001', from)).body.type, 'no magic in live mode').to.equal('GeoBlockedError')
  })

  itOnce('says what is wrong with an invalid recipient, without repeating it', async () => {
    const { server } = await flow.createTenant()
    for (const [to, ...words] of [
      ['07911 123456', 'no plus', 'spaces, hyphens'],
      [' +447911123456\n', 'white space around it'],
      ['ada@example.com, eda@example.com', 'two addresses'],
      ['+999123456789', 'no country has numbers like it'],
      ['  ', 'It is empty'],
      ['++447911123456', 'more than one plus'],
      ['tel:+447911123456', 'scheme of a link'],
      ['Ada <ada@example.com>', 'name around the address'],
      ['someone'],
    ] as const) {
      const answer = await server.send(to)
      expect(refusal(answer)).to.deep.equal({ type: 'InvalidRecipientError', status: 422 })
      const { detail } = answer.body
      expect(detail).to.match(/^It must be a valid E\.164 phone number or email address\./)
      expect(detail.split('. '), detail).to.have.length(words.length + 1)
      for (const word of words) expect(detail).to.include(word)
      if (to.trim() !== '') expect(detail).to.not.include(to.trim())
    }
  })

  itOnce('is refused to a number of a refused kind, and keeps sms from fixed lines', async () => {
    const { app, server } = await flow.createTenant({ routing: { default: ['sms'] } })
    const premium = await server.send('+19002345678')
    expect(refusal(premium)).to.deep.equal({ type: 'InvalidRecipientError', status: 422 })
    expect(premium.body.detail).to.equal('This app sends to no numbers of the kind premium_rate.')
    const fixedLine = '+442079460018'
    const { body } = await server.send(fixedLine)
    expect(body).to.include({ channel: 'sms' })

    await flow.changeSettings(app, {
      number_kinds: { refused: [], fixed_line: 'skip_sms' },
      resend_cooldown_seconds: [0],
    })
    expect((await server.send('+19002345678')).status).to.equal(200)
    const skipped = await server.send(fixedLine)
    expect(skipped.body.type).to.equal('NoEnabledChannelError')
    expect(skipped.body.channels[0]).to.deep.equal({ channel: 'sms', reason: 'number_kind' })
    await flow.advance(60_000)
    expect((await server.resend(body.otp_id, 'sms')).body).to.include({
      type: 'ResendNotAllowedError',
      cause: 'channel_number_kind',
    })
    expect((await server.resend(body.otp_id, 'telegram')).body).to.include({ channel: 'telegram' })
  })

  it('keeps metadata for the backend and for operators, who find it by one value, and for no device', async () => {
    const { app, server, device } = await flow.createTenant()
    const metadata = { order: 'A-1042', 'plan.tier': 'gold' }
    const to = freshNumber()
    const sent = await server.send(to, { metadata })
    expect(sent.status, sent.text).to.equal(200)
    expect(sent.body).not.to.have.property('metadata')
    const { otp_id } = sent.body
    const other = await server.send(freshNumber(), { metadata: { order: 'A-1043' } })
    const none = (await server.send(freshNumber(), { metadata: {} })).body.otp_id

    expect((await server.status(otp_id)).body.metadata).to.deep.equal(metadata)
    expect((await device.status(otp_id)).body).not.to.have.property('metadata')
    expect((await server.status(none)).body).not.to.have.property('metadata')
    expect((await flow.admin('GET', `/verifications/${otp_id}`)).body.metadata).to.deep.equal(metadata)

    const found = async (query: string): Promise<string[]> => {
      const { body } = await flow.admin('GET', `/apps/${app}/verifications?${query}`)
      return body.items.map((one: { otp_id: string }) => one.otp_id)
    }
    expect(await found('metadata.order=A-1042')).to.deep.equal([otp_id])
    expect(await found('metadata.plan.tier=gold')).to.deep.equal([otp_id])
    expect(await found('metadata.order=A-1043')).to.deep.equal([other.body.otp_id])
    expect(await found('metadata.order=A-104')).to.deep.equal([])

    const refused = await device.send(freshNumber(), { metadata })
    expect(refusal(refused)).to.deep.include({ type: 'ValidationError', status: 422 })
    expect(refused.body.errors[0].path).to.equal('metadata')
  })
})

// Logins that make their own codes have them delivered: Supabase Auth by its hooks, Ory Kratos by its courier. The bodies are those that
// their sources make.
import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'

interface HookAnswer {
  error?: { http_code: number; message: string }
}

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

describeFlow('the hook of Supabase Auth', flow => {
  async function createHook(mode = 'test') {
    const tenant = await flow.createTenant()
    const secret = newSecret()
    const set = (given: string | null) =>
      flow.admin('PUT', `/apps/${tenant.app}/hooks/supabase`, { mode, secret: given })
    const answer = await set(`v1,${secret}`)
    expect(answer.status, answer.text).to.equal(200)
    await flow.advance(CACHE_TTL_MS)
    return { ...tenant, secret, set, answer }
  }

  interface Call {
    signedWith?: string
    /** Signs as of then. */
    at?: number
    id?: string
    /** Where two secrets sign, Supabase separates their signatures by a comma and a space. */
    before?: string
  }
  async function call(app: string, secret: string, body: object, options: Call = {}) {
    const { signedWith = secret, at = flow.clock.now(), id = randomUUID(), before = '' } = options
    const text = JSON.stringify(body)
    const signature = new Webhook(signedWith).sign(id, new Date(at), text)
    const response = await fetch(`${flow.countersign.url}/hooks/supabase/${app}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / 1000)),
        'webhook-signature': `${before}${signature}`,
      },
      body: text,
    })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: (await response.json()) as HookAnswer,
    }
  }

  const smsBody = (phone: string, otp: string, more: object = {}) => ({
    metadata: { uuid: randomUUID(), time: '2030-01-01T00:00:00Z', name: 'send-sms', ip_address: '8.8.8.8' },
    user: { id: randomUUID(), aud: 'authenticated', role: 'authenticated', email: '', phone, app_metadata: {} },
    sms: { otp, sms_type: 'verification', ...more },
  })
  const emailBody = (user: object, email_data: object) => ({
    metadata: { uuid: randomUUID(), time: '2030-01-01T00:00:00Z', name: 'send-email' },
    user: { id: randomUUID(), aud: 'authenticated', phone: '', ...user },
    email_data: {
      token_hash: 'b1c2',
      redirect_to: 'http://localhost:3000/',
      site_url: 'http://localhost:9999',
      token_new: '',
      token_hash_new: '',
      ...email_data,
    },
  })

  it('delivers the code of a text message, and gives the number its plus', async () => {
    const { app, secret } = await createHook()
    const to = freshNumber()
    const { status, type, body } = await call(app, secret, smsBody(to.slice(1), '561166'))
    expect({ status, body }).to.deep.equal({ status: 200, body: {} })
    expect(type).to.match(/^application\/json/)
    expect(await flow.waitForCode(to)).to.equal('561166')
    const changed = freshNumber()
    await call(app, secret, smsBody(to.slice(1), '561167', { phone: changed.slice(1) }), { before: 'v1,bm9uZQ==, ' })
    expect(await flow.waitForCode(changed), 'a number that is to be changed').to.equal('561167')
  })

  it('delivers the code of an email, and both of a change of address', async () => {
    const { app, secret } = await createHook()
    const [email, new_email] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`]
    const signup = emailBody({ email }, { token: '305805', email_action_type: 'signup' })
    expect((await call(app, secret, signup)).body).to.deep.equal({})
    expect(await flow.waitForCode(email)).to.equal('305805')
    // The ids of messages of one millisecond sort by chance.
    await flow.advance(1)
    const change = { token: '111111', token_new: '222222', email_action_type: 'email_change' }
    expect((await call(app, secret, emailBody({ email, new_email }, change))).body).to.deep.equal({})
    expect(await flow.waitForCode(email, 2)).to.equal('111111')
    expect(await flow.waitForCode(new_email)).to.equal('222222')
  })

  it('reads no more than 32 KiB of a call, whose caller is not known before its end', async () => {
    const { app, secret } = await createHook()
    const body = (bytes: number) => ({ ...smsBody(freshNumber(), '561166'), padding: 'x'.repeat(bytes) })
    expect((await call(app, secret, body(30_000))).body).to.deep.equal({})
    expect((await call(app, secret, body(33_000))).body.error?.http_code).to.equal(413)
  })

  it('sends a call that comes twice once', async () => {
    const { app, secret } = await createHook()
    const [to, id] = [freshNumber(), randomUUID()]
    for (const _ of [1, 2]) expect((await call(app, secret, smsBody(to, '561166'), { id })).status).to.equal(200)
    await flow.waitForCode(to)
    expect(await flow.inbox(to)).to.have.length(1)
  })

  it('knows a call for as long as its signature is accepted, however short the app keeps idempotency keys', async () => {
    const { app, secret } = await createHook()
    await flow.admin('PATCH', `/apps/${app}`, { settings: { idempotency_ttl_seconds: 60 } })
    await flow.advance(CACHE_TTL_MS)
    const [to, id] = [freshNumber(), randomUUID()]
    const body = smsBody(to, '561166')
    // Accepted from five minutes before this time until five minutes after it.
    const at = flow.clock.now() + 290_000
    const play = () => call(app, secret, body, { id, at })
    expect((await play()).body).to.deep.equal({})
    await flow.waitForCode(to)
    await flow.advance(120_000)
    expect((await play()).body).to.deep.equal({})
    await flow.advance(440_000)
    expect((await play()).body).to.deep.equal({})
    expect(await flow.inbox(to)).to.have.length(1)
    await flow.advance(40_000)
    expect((await play()).status).to.equal(401)
  })

  it('answers a refusal as Supabase reads it', async () => {
    const { app, secret } = await createHook()
    const refused = await call(app, secret, smsBody('15005550001', '561166'))
    expect(refused.status).to.equal(200)
    expect(refused.body.error).to.include({ http_code: 422 })
    expect(refused.body.error?.message).to.include('E.164')
    const notACode = await call(app, secret, smsBody(freshNumber(), '1'))
    expect(notACode.body.error?.http_code).to.equal(422)
    const noMessage = await call(app, secret, { user: {} })
    expect(noMessage.body.error).to.deep.equal({ http_code: 422, message: 'email_data is required.' })
  })

  it('refuses what another secret signed, what is old, and every call once the secret is removed', async () => {
    const { app, secret, set, answer } = await createHook()
    expect(answer.body.secrets.test).to.match(/^hmac:/)
    expect(answer.body.secrets.live).to.equal(null)
    expect(answer.text).not.to.include(secret.slice(6))
    const [stored] = (await flow.countersign.engines.store.docs('apps').get([app])).values()
    expect(JSON.stringify(stored)).not.to.include(secret.slice(6))
    const body = smsBody(freshNumber(), '561166')
    expect((await call(app, secret, body, { signedWith: newSecret() })).status).to.equal(401)
    expect((await call(app, secret, body, { at: flow.clock.now() - 301_000 })).status).to.equal(401)
    expect((await call('app_nosuch', secret, body)).status).to.equal(401)
    expect((await call(app, secret, body)).status).to.equal(200)
    expect((await set('whsec_short')).status).to.equal(422)
    expect((await set(null)).status).to.equal(200)
    await flow.advance(CACHE_TTL_MS)
    expect((await call(app, secret, body)).status).to.equal(401)
  })
})

describeFlow('the hook of Ory Kratos', flow => {
  const call = (app: string, key: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${flow.countersign.url}/hooks/kratos/${app}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const courierBody = (recipient: string, name: string, code: string) => ({
    recipient,
    subject: '',
    body: `Your code is: ${code}`,
    template_type: `${name}_valid`,
    template_data: {
      to: recipient,
      [name]: code,
      identity: { id: randomUUID() },
      request_url: '',
      transient_payload: {},
    },
    message_type: 'phone',
  })

  it('delivers the code of every template that has one', async () => {
    const { app, server } = await flow.createTenant()
    for (const name of ['login_code', 'registration_code', 'verification_code', 'recovery_code']) {
      const to = freshNumber()
      const answer = await call(app, server.key, courierBody(to, name, '048273'))
      expect(answer.status, await answer.text()).to.equal(200)
      expect(await flow.waitForCode(to)).to.equal('048273')
    }
  })

  it('sends once for an idempotency key, which may have as many characters as everywhere', async () => {
    const { app, server } = await flow.createTenant()
    const to = freshNumber()
    const callWith = async (length: number) => {
      const key = { 'idempotency-key': 'k'.repeat(length) }
      return (await call(app, server.key, courierBody(to, 'login_code', '048273'), key)).status
    }
    expect(await callWith(128)).to.equal(200)
    expect(await callWith(128)).to.equal(200)
    expect(await callWith(129)).to.equal(422)
    await flow.waitForCode(to)
    expect(await flow.inbox(to)).to.have.length(1)
  })

  it('refuses a body without the data of its template, in the words of the API', async () => {
    const { app, server } = await flow.createTenant()
    const answer = await call(app, server.key, { recipient: freshNumber() })
    expect(answer.status).to.equal(422)
    const { errors } = (await answer.json()) as { errors: object[] }
    expect(errors).to.deep.equal([{ path: 'template_data', message: 'is required' }])
  })

  it('refuses a template without a code, a key of another app and a device', async () => {
    const { app, server, device } = await flow.createTenant()
    const other = await flow.createTenant()
    const body = courierBody(freshNumber(), 'login_code', '048273')
    expect((await call(app, server.key, courierBody(freshNumber(), 'recovery_url', 'https://x'))).status).to.equal(422)
    expect((await call(app, other.server.key, body)).status).to.equal(401)
    expect((await call(app, device.key, body)).status).to.equal(401)
  })
})

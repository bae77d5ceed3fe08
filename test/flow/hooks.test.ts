// Logins that make their own codes have them delivered: Supabase Auth by its hooks, Ory Kratos by its courier. The bodies are those that
// their sources make.
import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

const MINUTE_MS = 60_000

interface HookAnswer {
  error?: { http_code: number; message: string }
}

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

describeFlowOnce('the hook of Supabase Auth', flow => {
  async function createHook({ settings = {}, mode = 'test' } = {}) {
    const tenant = await flow.createTenant(settings)
    const secret = newSecret()
    const set = (secrets: string | string[] | null) =>
      flow.admin('PUT', `/apps/${tenant.app}/hooks/supabase`, { mode, secrets })
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
    return { status: response.status, body: (await response.json()) as HookAnswer }
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
      site_url: 'http://localhost:9999',
      token_new: '',
      token_hash_new: '',
      ...email_data,
    },
  })

  it('delivers the code of a text message, and gives the number its plus', async () => {
    const { app, secret } = await createHook()
    const to = freshNumber()
    const answer = await call(app, secret, smsBody(to.slice(1), '561166'))
    expect(answer).to.deep.equal({ status: 200, body: {} })
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

  it('sends once what Supabase calls again for, at once or later, each time with another webhook-id', async () => {
    const { app, secret } = await createHook()
    const to = freshNumber()
    const body = smsBody(to, '561166')
    const answers = await Promise.all([1, 2, 3].map(() => call(app, secret, body)))
    for (const answer of answers) expect(answer).to.deep.include({ status: 200, body: {} })
    expect((await call(app, secret, body)).body).to.deep.equal({})
    // Another uuid, with the same code for the same person.
    expect((await call(app, secret, smsBody(to, '561166'))).body).to.deep.equal({})
    await flow.waitForCode(to)
    await flow.advance(10 * MINUTE_MS)
    expect((await call(app, secret, smsBody(to, '561166'))).body).to.deep.equal({})
    await flow.waitForCode(to, 2)
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

  it('answers a refusal as Supabase reads it, in words for a person and in the language of the app', async () => {
    const { app, secret } = await createHook({
      settings: { locale: 'de', limits: { recipient: [{ max: 1, seconds: 600 }] } },
    })
    const refused = async (body: object) => {
      const answer = await call(app, secret, body)
      expect(answer.status).to.equal(200)
      return answer.body.error
    }
    const [to, other] = [freshNumber(), freshNumber()]
    expect((await call(app, secret, smsBody(to, '561166'))).body).to.deep.equal({})
    const unreachable = 'Wir konnten an diese Nummer oder Adresse keinen Code senden.'
    const later = 'Wir können gerade keinen Code senden. Bitte versuchen Sie es später erneut.'
    const tooMany = 'Sie haben zu viele Codes angefordert. Bitte versuchen Sie es später erneut.'
    for (const [body, http_code, message] of [
      [smsBody('15005550001', '561166'), 422, unreachable],
      [smsBody('15005550004', '561166'), 402, later],
      [smsBody(to, '561167'), 429, tooMany],
      [smsBody(other, '1'), 422, later],
      [{ user: {} }, 422, later],
    ] as const)
      expect(await refused(body), JSON.stringify(body)).to.deep.equal({ http_code, message })
    const notice = { token: '', email_action_type: 'password_changed_notification' }
    const named = await refused(emailBody({ email: 'ada@example.com' }, notice))
    expect(named, 'it has no code').to.have.property('message').that.includes(notice.email_action_type)
    const large = { ...smsBody(other, '561166'), user_metadata: { about: 'x'.repeat(257 * 1024) } }
    expect((await refused(large))?.http_code).to.equal(413)
    const reasons = flow.countersign.log.lines().map(({ reason }) => reason)
    expect(reasons, 'for the operator').to.include('email_data is required.')
  })

  it('takes a secret for each hook, and two of one as Supabase writes them', async () => {
    const { app, secret, set, answer } = await createHook()
    const [email, next] = [newSecret(), newSecret()]
    const [known] = answer.body.secrets.test
    const changed = await set([known, `v1,${email}|v1,${next}`])
    expect(changed.body.secrets.test).to.have.length(3)
    await flow.advance(CACHE_TTL_MS)
    for (const one of [secret, email, next])
      expect((await call(app, one, smsBody(freshNumber(), '561166'))).body).to.deep.equal({})
    const kept = changed.body.secrets.test
    expect((await set([...kept, newSecret()])).body.secrets.test).to.have.length(4)
    expect((await set([...kept, newSecret(), newSecret()])).body.errors[0].path).to.equal('secrets')
    expect((await set(['hmac:AAAAAAAA'])).body.errors[0].path).to.equal('secrets')
    expect((await set([kept[1]])).body.secrets.test).to.deep.equal([kept[1]])
    await flow.advance(CACHE_TTL_MS)
    expect((await call(app, email, smsBody(freshNumber(), '561166'))).status).to.equal(200)
    expect((await call(app, secret, smsBody(freshNumber(), '561166'))).status).to.equal(401)
  })

  it('refuses what another secret signed, what is old, and every call once the secret is removed', async () => {
    const { app, secret, set, answer } = await createHook()
    expect(answer.body.secrets.test[0]).to.match(/^hmac:/)
    expect(answer.body.secrets.live).to.deep.equal([])
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

describeFlowOnce('the hook of Ory Kratos', flow => {
  const call = (app: string, key: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${flow.countersign.url}/hooks/kratos/${app}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const courierBody = (recipient: string, name: string, code: string, more: object = {}) => ({
    recipient,
    subject: '',
    body: `Your code is: ${code}`,
    template_type: `${name}_valid`,
    template_data: { to: recipient, [name]: code, identity: { id: randomUUID() }, transient_payload: {}, ...more },
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

  it('refuses one person in a way that its courier waits for nobody, and for a reason that only the operator reads', async () => {
    const { app, server } = await flow.createTenant({
      limits: { recipient: [{ max: 1, seconds: 600 }], app_without_client_ip: [{ max: 1, seconds: 60 }] },
    })
    const to = freshNumber()
    expect((await call(app, server.key, courierBody(to, 'login_code', '048273'))).status).to.equal(200)
    const refused = await call(app, server.key, courierBody(to, 'login_code', '048274'))
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([422, null])
    const { type, detail, scope } = (await refused.json()) as Record<string, string>
    expect([type, detail, scope]).to.deep.equal([
      'RateLimitExceededError',
      'You have asked for too many codes. Please try again later.',
      undefined,
    ])
    const another = await call(app, server.key, courierBody(freshNumber(), 'login_code', '048273'))
    expect(another.status).to.equal(200)
  })

  it('counts under a limit of its own, whose refusals are recorded by its name', async () => {
    const { app, server } = await flow.createTenant({ limits: { app_hooks: [{ max: 1, seconds: 60 }] } })
    for (const status of [200, 422])
      expect((await call(app, server.key, courierBody(freshNumber(), 'login_code', '048273'))).status).to.equal(status)
    await flow.eventually(async () => {
      const { items } = (await flow.admin('GET', `/refusals?app_id=${app}`)).body
      expect(items.map((one: { scope: string }) => one.scope)).to.deep.equal(['app_hooks'])
    })
    expect((await server.send(freshNumber())).status, 'by no login').to.equal(200)
  })

  it('sends once what its courier sends five times, and once for an idempotency key', async () => {
    const { app, server } = await flow.createTenant()
    const to = freshNumber()
    const again = () => call(app, server.key, courierBody(to, 'login_code', '048273'))
    const statuses = (await Promise.all([again(), again(), again()])).map(({ status }) => status)
    for (const _ of [4, 5]) statuses.push((await again()).status)
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200])
    await flow.waitForCode(to)
    await flow.advance(10 * MINUTE_MS)
    expect((await again()).status).to.equal(200)
    await flow.waitForCode(to, 2)
    for (const code of ['048274', '048275']) {
      const key = { 'idempotency-key': `one ${to}` }
      expect((await call(app, server.key, courierBody(to, 'login_code', code), key)).status).to.equal(200)
    }
    await flow.waitForCode(to, 3)
  })

  it('says how long a code is good for where the courier tells it', async () => {
    const { app, server } = await flow.createTenant()
    const textOf = async (more: object) => {
      const to = `${randomUUID()}@example.com`
      expect((await call(app, server.key, courierBody(to, 'login_code', '048273', more))).status).to.equal(200)
      await flow.waitForCode(to)
      return (await flow.inbox(to))[0]?.text
    }
    expect(await textOf({ expires_in_minutes: 15 })).to.include('It is valid for 15 min.')
    for (const untold of [{}, { expires_in_minutes: 0 }]) expect(await textOf(untold)).not.to.include('valid')
  })

  it('refuses a template without a code, a key of another app and a device', async () => {
    const { app, server, device } = await flow.createTenant()
    const other = await flow.createTenant()
    const body = courierBody(freshNumber(), 'login_code', '048273')
    const refused = [courierBody(freshNumber(), 'recovery_url', 'https://x'), { recipient: freshNumber() }]
    for (const one of refused) expect((await call(app, server.key, one)).status).to.equal(422)
    const blocked = await call(app, server.key, courierBody('+15005550003', 'login_code', '048273'))
    expect(blocked.status, 'a blocked country').to.equal(403)
    expect((await call(app, other.server.key, body)).status).to.equal(401)
    expect((await call(app, device.key, body)).status).to.equal(401)
  })
})

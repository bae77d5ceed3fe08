import { expect } from 'chai'
import { otpIdOfSid, twilioSid } from '../../services/domain/tenancy/twilio-sids.ts'
import type { Answer } from '../support/api-caller.ts'
import { checkDocumented } from '../support/documented-answers.ts'
import { type Flow, freshNumber, type Tenant, wrongCode } from '../support/flow.ts'
import { ABUSIVE_IP, describeFlowOnce } from '../support/shared-flow.ts'

type Form = Record<string, string> | [string, string][]

/** Calls Twilio's API as an app. `path` follows the service. */
function twilioOf(flow: Flow, { company, app, key }: { company: string; app: string; key: string }) {
  const service = twilioSid('app', app)
  const ask = async (path: string, form?: Form, user = twilioSid('cmp', company), password = key): Promise<Answer> => {
    await flow.advance(1)
    const response = await fetch(`${flow.countersign.url}/compat/twilio/v2/Services/${service}${path}`, {
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
        // Twilio ignores it, however long it is.
        'Idempotency-Key': 'k'.repeat(200),
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    const text = await response.text()
    return checked(response, text, form === undefined ? 'GET' : 'POST')
  }
  const named = (name: string) => `/Verifications/${encodeURIComponent(name)}`
  return {
    ask,
    create: (To: string, more: Record<string, string> = {}) => ask('/Verifications', { To, Channel: 'sms', ...more }),
    check: (form: Form) => ask('/VerificationCheck', form),
    fetch: (name: string) => ask(named(name)),
    update: (name: string, Status: string) => ask(named(name), { Status }),
  }
}

/** The whole answer, which must be as the document says. */
function checked(response: Response, text: string, method: string): Answer {
  const answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
  const { pathname: path } = new URL(response.url)
  checkDocumented({ ...answer, method, path, type: answer.headers.get('content-type') })
  return answer
}

const tenantOf = (flow: Flow, { company, app, server }: Tenant) => twilioOf(flow, { company, app, key: server.key })

/** Checks the whole shape of an error, and answers its code. */
function errorOf({ status, body, headers }: Answer): number {
  expect(body).to.have.all.keys('code', 'message', 'more_info', 'status')
  expect(body.status).to.equal(status)
  expect(body.message).to.be.a('string').that.is.not.empty
  expect(body.more_info).to.equal(`https://www.twilio.com/docs/errors/${body.code}`)
  expect(headers.get('content-type')).to.match(/^application\/json/)
  return body.code
}

/** Documented by Twilio, and without a counterpart here. */
const REFUSED_MEMBERS: readonly [name: string, value: string][] = [
  ['CustomMessage', 'Hello'],
  ['SendDigits', '1234'],
  ['Amount', '10'],
  ['Payee', 'Ada'],
  ['RateLimits', '{"end_user_ip":"192.0.2.1"}'],
  ['ChannelConfiguration', '{"substitutions":{}}'],
  ['TemplateSid', 'HJ1'],
  ['TemplateCustomSubstitutions', '{}'],
  ['RiskCheck', 'disable'],
  ['EnableSnaClientToken', 'true'],
]

const NO_COOLDOWN = { resend_cooldown_seconds: [0] }

describeFlowOnce("Twilio's API", flow => {
  it('starts a verification and checks its code, wrong and right', async () => {
    const tenant = await flow.createTenant()
    const twilio = tenantOf(flow, tenant)
    const to = freshNumber()
    const created = await twilio.create(to)
    expect(created.status, created.text).to.equal(201)
    const { sid, date_created, date_updated, send_code_attempts, url, ...rest } = created.body
    const service_sid = twilioSid('app', tenant.app)
    const inBoth = {
      service_sid,
      account_sid: twilioSid('cmp', tenant.company),
      to,
      channel: 'sms',
      amount: null,
      payee: null,
    }
    expect(rest).to.deep.equal({ ...inBoth, status: 'pending', valid: false, lookup: {}, sna: null })
    expect(sid).to.match(/^VE[0-9a-f]{32}$/)
    expect(url).to.equal(`${flow.countersign.url}/compat/twilio/v2/Services/${service_sid}/Verifications/${sid}`)
    expect(date_created).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(date_updated).to.equal(date_created)
    expect(send_code_attempts).to.have.length(1)
    expect(send_code_attempts[0]).to.include({ channel: 'SMS', time: date_created })
    expect(send_code_attempts[0].attempt_sid).to.match(/^VL[0-9a-f]{32}$/)

    const code = await flow.waitForCode(to)
    const wrong = await twilio.check({ To: to, Code: wrongCode(code) })
    expect(wrong.status, wrong.text).to.equal(201)
    expect(wrong.body).to.include({ sid, to, status: 'pending', valid: false })
    const right = await twilio.check({ VerificationSid: sid, Code: code })
    const approved = { status: 'approved', valid: true, sna_attempts_error_codes: [] }
    expect(right.body).to.deep.include({ ...inBoth, sid, ...approved })
    expect((await twilio.fetch(sid)).body).to.include({ status: 'approved', valid: true })
  })

  it('resends a pending verification on a second create, with the same code, within the rules of a resend', async () => {
    const twilio = tenantOf(flow, await flow.createTenant({ send_attempts: 3, resend_cooldown_seconds: [30] }))
    const to = freshNumber()
    const { sid } = (await twilio.create(to)).body
    const code = await flow.waitForCode(to)
    const early = await twilio.create(to)
    expect([early.status, errorOf(early)]).to.deep.equal([429, 60212])
    expect(Number(early.headers.get('retry-after'))).to.be.within(1, 30)

    await flow.advance(30_000)
    const again = (await twilio.create(to)).body
    expect(again).to.include({ status: 'pending', channel: 'sms' })
    expect(again.sid, 'each create has its own').to.not.equal(sid)
    expect(again.send_code_attempts).to.have.length(2)
    expect(await flow.waitForCode(to, 2), 'the same code').to.equal(code)
    await flow.advance(30_000)
    const moved = (await twilio.create(to, { Channel: 'whatsapp' })).body
    expect(moved).to.include({ channel: 'whatsapp' })
    expect((await twilio.fetch(to)).body.sid, 'a number means the latest').to.equal(moved.sid)
    expect((await twilio.fetch(sid)).body).to.include({ sid, status: 'pending' })
    expect(moved.send_code_attempts.map(({ channel }: { channel: string }) => channel)).to.deep.equal([
      'SMS',
      'SMS',
      'WHATSAPP',
    ])
    await flow.advance(30_000)
    expect(errorOf(await twilio.create(to))).to.equal(60203)
  })

  it('approves the SID that was checked, and no other of the same recipient', async () => {
    const twilio = tenantOf(flow, await flow.createTenant(NO_COOLDOWN))
    const to = freshNumber()
    const create = async (): Promise<string> => (await twilio.create(to)).body.sid
    const [stranger, bystander, user] = [await create(), await create(), await create()]
    const Code = await flow.waitForCode(to, 3)
    for (let nth = 0; nth < 5; nth += 1) await twilio.check({ VerificationSid: stranger, Code: wrongCode(Code) })
    const spent = await twilio.check({ VerificationSid: stranger, Code })
    expect([spent.status, errorOf(spent)]).to.deep.equal([429, 60202])
    expect((await twilio.check({ VerificationSid: user, Code })).body).to.include({ sid: user, valid: true })
    expect((await twilio.fetch(stranger)).body).to.include({ status: 'max_attempts_reached', valid: false })
    expect((await twilio.fetch(bystander)).body).to.include({ status: 'canceled', valid: false })
    expect(errorOf(await twilio.check({ VerificationSid: bystander, Code })), 'the same code').to.equal(20404)
    expect((await twilio.fetch(to)).body).to.include({ sid: user, status: 'approved' })
  })

  it('starts one verification when many creates for a number arrive at the same time', async () => {
    const twilio = tenantOf(flow, await flow.createTenant())
    const to = freshNumber()
    const answers = await flow.advanceUntil(Promise.all(Array.from({ length: 8 }, () => twilio.create(to))))
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(7).fill(429)])
    expect(new Set(answers.filter(({ status }) => status !== 201).map(errorOf))).to.deep.equal(new Set([60212]))
    await flow.waitForCode(to, 1)
  })

  it('uses the named channel, or with auto the routing of the app', async () => {
    const routing = { default: ['telegram', 'sms'] }
    const twilio = tenantOf(flow, await flow.createTenant({ routing, channels: { whatsapp: { enabled: false } } }))
    expect((await twilio.create(freshNumber(), { Channel: 'auto' })).body.channel).to.equal('telegram')
    expect((await twilio.create(freshNumber())).body.channel).to.equal('sms')
    const byMail = await twilio.create('ada@example.com', { Channel: 'email' })
    expect(byMail.body, byMail.text).to.include({ channel: 'email', to: 'ada@example.com' })
    expect(errorOf(await twilio.create(freshNumber(), { Channel: 'whatsapp' }))).to.equal(60223)
    expect(errorOf(await twilio.create(freshNumber(), { Channel: 'email' })), 'a number').to.equal(60200)
  })

  it('never puts a verification on a WhatsApp link, which its answer could not show', async () => {
    const whatsapp = { mode: 'link_code', business_number: '+15550001111' }
    const routing = { default: ['whatsapp', 'sms'] }
    const tenant = await flow.createTenant({ routing, channels: { whatsapp }, ...NO_COOLDOWN })
    const twilio = tenantOf(flow, tenant)
    expect((await twilio.create(freshNumber(), { Channel: 'auto' })).body.channel).to.equal('sms')
    expect(errorOf(await twilio.create(freshNumber(), { Channel: 'whatsapp' }))).to.equal(60223)
    const to = freshNumber()
    expect((await tenant.server.send(to)).body.action_url, 'a link of /api/v1').to.be.a('string')
    expect((await twilio.create(to, { Channel: 'auto' })).body.channel, 'is not resent').to.equal('sms')
  })

  it('finds no verification to check that is unknown, approved, canceled or expired', async () => {
    const tenant = await flow.createTenant()
    const twilio = tenantOf(flow, tenant)
    const check = async (form: Form) => errorOf(await twilio.check(form))
    expect(await check({ To: freshNumber(), Code: '123456' }), 'unknown number').to.equal(20404)
    expect(await check({ VerificationSid: `VE${'0'.repeat(32)}`, Code: '123456' }), 'unknown SID').to.equal(20404)
    expect(await check({ VerificationSid: 'VE12', Code: '123456' }), 'no SID').to.equal(20404)

    const [approved, canceled, expired] = [freshNumber(), freshNumber(), freshNumber()]
    const [one] = [await twilio.create(approved), await twilio.create(canceled), await twilio.create(expired)]
    const code = await flow.waitForCode(approved)
    const both = { To: freshNumber(), VerificationSid: one.body.sid, Code: code }
    expect(await check(both), 'the code of another number').to.equal(20404)
    expect((await twilio.check({ ...both, To: approved })).body.valid).to.equal(true)
    expect(await check({ To: approved, Code: code })).to.equal(20404)
    expect(await check({ VerificationSid: one.body.sid, Code: code })).to.equal(20404)
    expect(errorOf(await twilio.update(canceled, 'approved')), 'not by hand').to.equal(60200)
    expect((await twilio.update(canceled, 'canceled')).body).to.include({
      to: canceled,
      status: 'canceled',
      valid: false,
    })
    expect(await check({ To: canceled, Code: await flow.waitForCode(canceled) })).to.equal(20404)
    const late = await flow.waitForCode(expired)
    await flow.advance(600_000)
    expect(await check({ To: expired, Code: late })).to.equal(20404)
    expect((await twilio.fetch(expired)).body.status).to.equal('expired')
    const started = (await tenant.device.send(freshNumber())).body.otp_id
    const theirs = { VerificationSid: twilioSid('otp', started), Code: '123456' }
    expect(await check(theirs), 'of a device').to.equal(20404)
  })

  it('asks for a server key of the company and the app, and tells nothing else apart', async () => {
    const [tenant, other] = [await flow.createTenant(), await flow.createTenant()]
    const twilio = tenantOf(flow, tenant)
    const { sid } = (await twilio.create(freshNumber())).body
    const path = `/Verifications/${sid}`
    expect((await twilio.ask(path, undefined, 'SKanything')).body.sid, 'any SK').to.equal(sid)
    const company = twilioSid('cmp', tenant.company)
    const refused = [
      await twilio.ask(path, undefined, company, 'sk_test_unknown'),
      await twilio.ask(path, undefined, company, ''),
      await twilio.ask(path, undefined, company, tenant.device.key),
      await twilio.ask(path, undefined, twilioSid('cmp', other.company)),
      await twilio.ask(path, undefined, ''),
    ]
    for (const answer of refused) {
      expect([answer.status, errorOf(answer)]).to.deep.equal([401, 20003])
      expect(answer.headers.get('www-authenticate')).to.equal('Basic realm="countersign"')
    }
    const form = { To: freshNumber(), Channel: 'sms' }
    const ofOther = await twilio.ask('/Verifications', form, twilioSid('cmp', other.company), other.server.key)
    expect([ofOther.status, errorOf(ofOther)], 'the service of another app').to.deep.equal([404, 20404])
    expect(errorOf(await tenantOf(flow, other).fetch(sid)), 'a verification of another app').to.equal(20404)
    const live = await flow.createKey(tenant.app, 'server', 'live')
    expect(errorOf(await twilio.ask(path, undefined, company, live.key)), 'of the other mode').to.equal(20404)
  })

  it('refuses a bad value of every parameter in the shape of Twilio, and starts nothing', async () => {
    const tenant = await flow.createTenant()
    const twilio = tenantOf(flow, tenant)
    const To = freshNumber()
    const good = { To, Channel: 'sms' }
    const [start, check, update] = ['/Verifications', '/VerificationCheck', `/Verifications/${encodeURIComponent(To)}`]
    const withTags = (...all: string[]) => all.map((Tags): [string, Form] => [start, { ...good, Tags }])
    const refused: [string, Form][] = [
      [start, {}],
      [start, { Channel: 'sms' }],
      [start, { To }],
      ...['', '14155550000', 'nobody', `+${'1'.repeat(5_000)}`].map((To): [string, Form] => [start, { ...good, To }]),
      ...['call', ''].map((Channel): [string, Form] => [start, { ...good, Channel }]),
      [start, { ...good, DeviceIp: '300.1.1.1' }],
      ...REFUSED_MEMBERS.map(([name, value]): [string, Form] => [start, { ...good, [name]: value }]),
      [start, { ...good, AppHash: 'AAAAAAAAAAA' }],
      [start, { ...good, CustomFriendlyName: 'evil.example/x' }],
      [start, { ...good, CustomFriendlyName: 'x'.repeat(31) }],
      ...withTags('{', '["a"]', '{"a":1}', JSON.stringify({ a: 'x'.repeat(257) })),
      [start, [...Object.entries(good), ['To', freshNumber()]]],
      [check, {}],
      [check, { Code: '123456' }],
      [check, { To }],
      [check, { To, Code: ' - ' }],
      [check, { To: 'nobody', Code: '123456' }],
      [check, { To, Code: '1', Amount: '10' }],
      [check, { To, Code: '1', SnaClientToken: 'x' }],
      [check, [...Object.entries({ To, Code: '1' }), ['Code', '2']]],
      [update, {}],
      [update, { Status: 'pending' }],
    ]
    for (const [path, form] of refused) {
      const answer = await twilio.ask(path, form)
      expect([answer.status, errorOf(answer)], `${path} ${JSON.stringify(form)}`).to.deep.equal([400, 60200])
    }
    const notFound = await twilio.fetch('%00\u{10FFFF}/..')
    expect(errorOf(notFound)).to.equal(20404)
    expect(await flow.inbox(To)).to.have.length(0)
    expect(errorOf(await twilio.create(To, { CustomCode: '123456' }))).to.equal(60204)
    const odd = { Locale: 'no language', DeviceIp: '127.0.0.1', RiskCheck: 'enable', EnableSnaClientToken: 'false' }
    expect((await twilio.create(To, odd)).status, 'what changes nothing').to.equal(201)
  })

  it('has the name and the hash of each create in its text, and its tags as metadata', async () => {
    const sms = { domains: ['shop.example'], android_hashes: ['FA+9qCX9VSu', 'BBBBBBBBBBB'] }
    const tenant = await flow.createTenant({ channels: { sms }, ...NO_COOLDOWN })
    const twilio = tenantOf(flow, tenant)
    const to = freshNumber()
    const named = { CustomFriendlyName: 'Acme & Sons', AppHash: 'BBBBBBBBBBB', Tags: '{"order":"A-1"}' }
    const { sid } = (await twilio.create(to, named)).body
    const code = await flow.waitForCode(to)
    const joined = (await twilio.create(to, { Tags: '{"order":"A-2"}' })).body.sid
    await flow.waitForCode(to, 2)
    await tenant.server.resend(otpIdOfSid(sid) ?? '')
    await flow.waitForCode(to, 3)
    const texts = (await flow.inbox(to)).toSorted((one, other) => one.at - other.at).map(({ text }) => text)
    expect(texts[0]).to.equal(`${code} is your Acme & Sons verification code.\n\nBBBBBBBBBBB`)
    expect(texts[1])
      .to.match(/\n\n@shop\.example #\d{6}$/)
      .and.not.include('Acme')
    expect(texts[2], 'of the id that asks').to.include('Acme & Sons')
    const metadata = async (id: string) => (await tenant.server.status(otpIdOfSid(id) ?? '')).body.metadata
    expect([await metadata(sid), await metadata(joined)]).to.deep.equal([{ order: 'A-1' }, { order: 'A-2' }])
  })

  it('answers bodies that are no form, other methods and other paths in the shape of Twilio', async () => {
    const tenant = await flow.createTenant()
    const root = `${flow.countersign.url}/compat/twilio`
    const service = `${root}/v2/Services/${twilioSid('app', tenant.app)}`
    const key = Buffer.from(`SK1:${tenant.server.key}`).toString('base64')
    const ask = async (url: string, init: RequestInit): Promise<[number, number]> => {
      const response = await fetch(url, { ...init, headers: { Authorization: `Basic ${key}`, ...init.headers } })
      return [response.status, errorOf(checked(response, await response.text(), init.method ?? 'GET'))]
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
      ask(`${service}/Verifications`, { method: 'POST', body, headers })
    expect(await post('{}', { 'Content-Type': 'application/json' })).to.deep.equal([415, 20415])
    expect(await post(Uint8Array.of(0x54, 0x6f, 0x3d, 0xff), form)).to.deep.equal([400, 20400])
    expect(await post(`To=${'1'.repeat(20_000)}`, form)).to.deep.equal([413, 20413])
    expect(await post('To=1', { ...form, 'Content-Encoding': 'gzip' })).to.deep.equal([415, 20415])
    expect(await post('To=%E0%A4%A&&&=x&Channel', form)).to.deep.equal([400, 60200])
    expect(await ask(`${service}/Verifications`, { method: 'GET' })).to.deep.equal([405, 20004])
    expect(await ask(`${service}/Verifications/x`, { method: 'DELETE' })).to.deep.equal([405, 20004])
    expect(await ask(`${service}/Entities`, { method: 'POST' })).to.deep.equal([404, 20404])
    expect(await ask(`${root}/v2`, { method: 'GET' })).to.deep.equal([404, 20404])
    expect(await ask(`${service}/Verifications/%E0%A4%A`, { method: 'GET' })).to.deep.equal([404, 20404])
  })

  it('has the code of Twilio for each refusal of a send', async () => {
    const twilio = tenantOf(flow, await flow.createTenant())
    const magic = { '01': 60200, '02': 60223, '03': 60605, '04': 20005, '05': 60410, '06': 60203 }
    for (const [number, code] of Object.entries(magic))
      expect(errorOf(await twilio.create(`+150055500${number}`)), number).to.equal(code)
    expect(errorOf(await twilio.create(freshNumber(), { DeviceIp: ABUSIVE_IP }))).to.equal(60410)
    const limits = { app_without_client_ip: [{ max: 1, seconds: 600 }] }
    const limited = tenantOf(flow, await flow.createTenant({ limits }))
    const told = ({ headers }: Answer) => [headers.get('ratelimit'), headers.get('ratelimit-policy')].join()
    const nearest = /^"app_without_client_ip";r=0;t=\d+,"app_without_client_ip";q=1;w=600$/
    const first = await limited.create(freshNumber())
    expect([first.status, nearest.test(told(first))]).to.deep.equal([201, true])
    const refused = await limited.create(freshNumber())
    expect([errorOf(refused), nearest.test(told(refused))]).to.deep.equal([20429, true])
    expect((await limited.create(freshNumber(), { DeviceIp: '8.8.8.8' })).status, 'with an address').to.equal(201)
  })
})

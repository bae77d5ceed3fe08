// API keys at the edge: which keys are accepted, how others are refused, and how long the edge caches them.
import { expect } from 'chai'
import { Unavailable } from '../../../infra/unavailable.ts'
import { createAdmission } from '../../../services/domain/admission.ts'
import { hashApiKey } from '../../../services/domain/tenancy/api-keys.ts'
import { createIdentify, createTrustsCaller, MAX_UNKNOWN_KEYS } from '../../../services/edge/api-keys.ts'
import { apiKey, KEYS, OTP_ID, problemOf, startTestEdge, type TestEdge } from '../../support/edge.ts'
import { createGate } from '../../support/gate.ts'

const SEND = { recipient: '+447911123456' }

describe('an API key at the edge', () => {
  let edge: TestEdge
  beforeEach(async () => {
    edge = await startTestEdge()
  })
  afterEach(() => edge.close())

  const sendWith = (authorization: string | null) =>
    edge.request('/api/v1/otp/send', {
      method: 'POST',
      body: JSON.stringify(SEND),
      headers: {
        'Content-Type': 'application/json',
        ...(authorization === null ? {} : { Authorization: authorization }),
      },
    })

  it('identifies the caller to the OTP actor', async () => {
    await edge.post('/otp/send', SEND, { key: KEYS.deviceTest })
    expect(edge.calls[0]?.call.by).to.deep.equal({
      key_id: 'key_pktest',
      kind: 'publishable',
      mode: 'test',
      app_id: 'app_shop',
      company_id: 'cmp_acme',
    })
  })

  const refused: [string, string | null][] = [
    ['is missing', null],
    ['is empty', 'Bearer '],
    ['has another scheme', `Basic ${KEYS.serverTest}`],
    ['has no scheme', KEYS.serverTest],
    ['is followed by another word', `Bearer ${KEYS.serverTest} more`],
    ['is unknown', 'Bearer sk_test_unknown0'],
    ['differs in case', `Bearer ${KEYS.serverTest.toUpperCase()}`],
    ['is longer than any key', `Bearer ${'k'.repeat(257)}`],
  ]
  for (const [how, authorization] of refused)
    it(`that ${how} is 401`, async () => {
      const response = await sendWith(authorization)
      expect(response.status).to.equal(401)
      expect(response.headers.get('www-authenticate')).to.match(/^Bearer realm="countersign"/)
      expect(response.headers.get('content-type')).to.equal('application/problem+json')
      const problem = await problemOf(response)
      expect(problem).to.include({ type: 'HTTPException', status: 401, title: 'Unauthorized', code: 'invalid_key' })
      expect(problem.request_id).to.equal(response.headers.get('x-request-id'))
      expect(edge.calls).to.deep.equal([])
    })

  it('is not looked up where its address has failed a hundred times in a minute, unless it is known', async () => {
    const proxied = await startTestEdge({ trustedProxies: ['127.0.0.1/32'] })
    const ask = (key: string, address: string) =>
      proxied.get('/otp/otp_x', { key, headers: { 'X-Forwarded-For': address } })
    const [flooding, quiet] = ['8.8.8.8', '8.8.4.4']
    expect((await ask(KEYS.serverTest, flooding)).status).to.equal(404)
    for (let nth = 0; nth < MAX_UNKNOWN_KEYS; nth += 1)
      expect((await ask(`sk_test_unknown${nth}`, flooding)).status).to.equal(401)
    const before = proxied.lookups.length
    const refused = await ask('sk_test_another', flooding)
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '60'])
    expect(await problemOf(refused)).to.include({ type: 'RateLimitExceededError', scope: 'api_key', retry_after: 60 })
    expect(proxied.lookups).to.have.length(before)
    expect((await ask('sk_test_another', quiet)).status, 'from another address').to.equal(401)
    await proxied.clock.advance(30_000)
    expect((await ask(KEYS.serverTest, flooding)).status, 'a key that works').to.equal(404)
    await proxied.clock.advance(30_000)
    expect((await ask('sk_test_another', flooding)).status, 'a minute later').to.equal(401)
    await proxied.close()
  })

  it('may be any visible ASCII, as a bootstrap file allows', async () => {
    const odd = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`
    edge.keys.set(hashApiKey(odd), apiKey('key_odd', 'sk_test', { hash: hashApiKey(odd) }))
    expect((await sendWith(`Bearer ${odd}`)).status).to.equal(200)
    expect((await sendWith(`bearer   ${odd}`)).status).to.equal(200)
  })

  const serverOnly: [string, unknown][] = [
    ['/otp/cancel', { otp_id: OTP_ID }],
    ['/verifications/exchange', { verification_token: 'otp_vt_x' }],
  ]
  for (const [path, body] of serverOnly)
    it(`that is publishable is 401 at ${path}`, async () => {
      const response = await edge.post(path, body, { key: KEYS.deviceTest })
      expect(response.status).to.equal(401)
      expect(response.headers.get('www-authenticate')).to.match(/, error="insufficient_scope"$/)
      const detail = 'A server key is needed here.'
      expect(await problemOf(response)).to.include({ type: 'HTTPException', code: 'wrong_key_kind', detail })
    })

  it('is checked after the path and before the body', async () => {
    const unknownPath = await edge.request('/api/v1/otp', { method: 'POST' })
    expect(unknownPath.status).to.equal(404)
    expect((await edge.request('/api/v1/otp/send')).status).to.equal(405)
    const badBody = await edge.request('/api/v1/otp/send', {
      method: 'POST',
      body: '{',
      headers: { 'Content-Type': 'text/plain' },
    })
    expect(badBody.status).to.equal(401)
  })

  it('is looked up once for many requests, and again after a few seconds', async () => {
    await Promise.all(Array.from({ length: 10 }, () => edge.post('/otp/send', SEND)))
    expect(edge.lookups).to.have.length(1)
    await edge.clock.advance(5_000)
    await edge.post('/otp/send', SEND)
    expect(edge.lookups).to.have.length(2)
  })

  it('is recorded as used when it is accepted, and only then', async () => {
    await edge.post('/otp/send', SEND)
    await edge.post('/otp/send', {})
    await edge.post('/otp/send', SEND, { key: 'sk_test_unknown0' })
    await edge.post('/otp/cancel', { otp_id: OTP_ID }, { key: KEYS.deviceTest })
    expect(edge.uses).to.deep.equal(['key_sktest', 'key_sktest'])
  })

  it('that is unknown is not looked up each time, and works soon after it is created', async () => {
    const late = 'sk_test_made_later'
    for (let n = 0; n < 5; n += 1) expect((await edge.post('/otp/send', SEND, { key: late })).status).to.equal(401)
    expect(edge.lookups).to.have.length(1)
    edge.keys.set(hashApiKey(late), apiKey('key_late', late))
    await edge.clock.advance(1_000)
    expect((await edge.post('/otp/send', SEND, { key: late })).status).to.equal(200)
  })

  it('stays cached while a flood of unknown keys is tried', async () => {
    const lookups: string[] = []
    const keyByHash = async (hash: string) => {
      lookups.push(hash)
      return edge.keys.get(hash) ?? null
    }
    const identify = createIdentify({
      tenancy: { keyByHash },
      clock: edge.clock,
      admission: createAdmission({ clock: edge.clock, maxInFlight: 10 }),
      usage: { record: () => {} },
    })
    const known = KEYS.serverTest
    await identify(known, ['server'])
    for (let n = 0; n < 12_000; n += 1) await identify(`guess${n}`, ['server']).catch(() => {})
    expect(lookups).to.have.length(12_001)
    await identify(known, ['server'])
    expect(lookups).to.have.length(12_001)
  })

  it('makes its caller trusted if it is a server’s, and is not called unknown while the store is down', async () => {
    const identify = createIdentify({
      tenancy: { keyByHash: async hash => edge.keys.get(hash) ?? null },
      clock: edge.clock,
      admission: createAdmission({ clock: edge.clock, maxInFlight: 10 }),
      usage: { record: () => {} },
    })
    const trusts = createTrustsCaller(identify)
    expect(await trusts(`Bearer ${KEYS.serverTest}`)).to.equal(true)
    expect(await trusts('Bearer nobody')).to.equal(false)
    const away = createTrustsCaller(async () => {
      throw new Unavailable('away')
    })
    expect(await away(`Bearer ${KEYS.serverTest}`).catch(error => error)).to.be.instanceOf(Unavailable)
  })

  it('is 503 while the store is down, and is looked up again afterwards', async () => {
    const { keyByHash } = edge.stubs
    edge.stubs.keyByHash = async () => {
      throw new Unavailable('down')
    }
    const response = await edge.post('/otp/send', SEND)
    expect(response.status).to.equal(503)
    expect(response.headers.get('retry-after')).to.equal('1')
    edge.stubs.keyByHash = keyByHash
    expect((await edge.post('/otp/send', SEND)).status).to.equal(200)
  })

  it('is 503 while too many other keys are being looked up, which leave two thirds of the places to known keys', async () => {
    await edge.close()
    edge = await startTestEdge({ maxInFlight: 7 })
    expect((await edge.post('/otp/send', SEND)).status).to.equal(200)
    edge.lookups.length = 0
    const { keyByHash } = edge.stubs
    const { released, release } = createGate()
    edge.stubs.keyByHash = async hash => {
      const key = await keyByHash(hash)
      if (key === null) await released
      return key
    }
    const waiting = ['a', 'b'].map(key => edge.post('/otp/send', SEND, { key }))
    while (edge.lookups.length < 2) await new Promise(resolve => setImmediate(resolve))
    expect((await edge.post('/otp/send', SEND, { key: 'c' })).status).to.equal(503)
    await edge.clock.advance(10_000)
    expect((await edge.post('/otp/send', SEND)).status, 'a known key that is no longer cached').to.equal(200)
    release()
    for (const response of await Promise.all(waiting)) expect(response.status).to.equal(401)
  })
})

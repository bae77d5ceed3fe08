// Access to the admin API, and its answers to malformed requests.
import { request } from 'node:http'
import { expect } from 'chai'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin, TOKENS } from '../../support/admin-api.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('the admin API', fresh => {
  let admin: TestAdmin
  beforeEach(async () => {
    admin = await startAdmin(await fresh(), { maxBodyBytes: 1_000 })
  })
  afterEach(closeAdmins)

  it('answers only requests with an operator’s token', async () => {
    expect((await admin.get('/companies')).status).to.equal(200)
    for (const token of [null, 'wrong', `${TOKENS[0]?.token}x`]) {
      const refused = await admin.ask('GET', '/companies', undefined, { token })
      expect(refused.status).to.equal(401)
      expect(refused.body).to.include({ type: 'HTTPException', status: 401 })
      expect(refused.headers.get('www-authenticate')).to.equal('Bearer')
    }
  })

  it('slows down who guesses tokens: after ten wrong ones a minute the address waits, even with the right one', async () => {
    const guess = (token: string) => admin.ask('GET', '/companies', undefined, { token })
    for (let guesses = 0; guesses < 10; guesses += 1) expect((await guess(`guess-${guesses}`)).status).to.equal(401)
    for (const token of ['guess', TOKENS[0]?.token ?? '']) {
      const { status, headers, body } = await guess(token)
      expect(status).to.equal(429)
      expect(headers.get('retry-after')).to.equal('60')
      expect(body).to.include({
        type: 'RateLimitExceededError',
        status: 429,
        scope: 'operator_token',
        retry_after: 60,
      })
      expect(body.request_id).to.equal(headers.get('x-request-id'))
    }
    const warnings = admin.captured.lines().filter(({ msg }) => msg === 'operator.token_refused')
    expect(warnings.map(({ level, caller_address }) => `${level} ${caller_address}`)).to.deep.equal(
      Array(10).fill('warn 127.0.0.1'),
    )
    await admin.clock.advance(60_000)
    expect((await admin.get('/companies')).status).to.equal(200)
  })

  it('checks the token before it reads the body or the store', async () => {
    const none = { token: null }
    expect((await admin.ask('POST', '/companies', undefined, { ...none, raw: '{' })).status).to.equal(401)
    expect((await admin.ask('GET', '/companies/cmp_none', undefined, none)).status).to.equal(401)
    expect((await admin.ask('DELETE', '/keys/key_none', undefined, none)).status).to.equal(401)
  })

  it('checks the token at every path, in any spelling', async () => {
    const { app, company } = await createTenant(admin)
    const addresses: [string, string][] = [
      ['GET', '/companies'],
      ['POST', '/companies'],
      ['GET', `/companies/${company}`],
      ['GET', `/companies/${company}/apps`],
      ['POST', `/companies/${company}/apps`],
      ['GET', `/apps/${app}`],
      ['PATCH', `/apps/${app}`],
      ['GET', `/apps/${app}/keys`],
      ['POST', `/apps/${app}/keys`],
      ['DELETE', '/keys/key_none'],
      ['GET', `/apps/${app}/verifications`],
      ['GET', '/verifications/otp_none'],
      ['POST', `/apps/${app}/route`],
      ['GET', `/apps/${app}/events`],
      ['GET', `/apps/${app}/fraud`],
      ['GET', `/apps/${app}/fraud/prefixes`],
      ['GET', '/sandbox/messages'],
      ['POST', '/sandbox/inbound'],
      ['GET', '/audit'],
    ]
    const spellings = [
      '/admin/v1',
      '/ADMIN/v1',
      '/admin/V1',
      '//admin/v1',
      '/admin%2Fv1',
      '/%61dmin/v1',
      '/x/../admin/v1',
    ]
    for (const [method, path] of addresses) {
      expect((await admin.ask(method, path, undefined, { token: null })).status, `${method} ${path}`).to.equal(401)
      for (const prefix of spellings)
        for (const spelled of [path, path.replace(/[a-z]/, first => first.toUpperCase()), `${path}/`])
          expect(await statusOf(admin, method, prefix + spelled), `${method} ${prefix}${spelled}`).to.be.oneOf([
            401, 404,
          ])
    }
  })

  it('answers 405 with the allowed methods, and 404 for an unknown path', async () => {
    const refused = await admin.ask('PUT', '/companies')
    expect(refused.status).to.equal(405)
    expect(refused.headers.get('allow')).to.contain('GET').and.contain('POST')
    expect((await admin.get('/nothing')).body).to.include({ type: 'HTTPException', status: 404 })
  })

  it('refuses a body that is too large, is not JSON, or is malformed', async () => {
    const post = (raw: string, headers = {}) => admin.ask('POST', '/companies', undefined, { raw, headers })
    expect((await post(JSON.stringify({ name: 'x'.repeat(1_000) }))).status).to.equal(413)
    expect((await post('name=Acme', { 'Content-Type': 'application/x-www-form-urlencoded' })).status).to.equal(415)
    expect((await post('{"name":')).body).to.include({ type: 'HTTPException', status: 400 })
    expect((await admin.get('/companies')).body.items).to.deep.equal([])
  })

  it('reports every problem of a body by its path', async () => {
    const { app } = await createTenant(admin)
    const refused = await admin.ask('POST', `/apps/${app}/keys`, { kind: 'root', moed: 'live' })
    expect(refused.status).to.equal(422)
    expect(refused.body.type).to.equal('ValidationError')
    expect(errorPaths(refused)).to.have.members(['kind', 'mode', 'moed'])
  })

  it('refuses a missing body, a body that is not an object, and a member __proto__', async () => {
    expect(errorPaths(await admin.ask('POST', '/companies'))).to.deep.equal([''])
    expect(errorPaths(await admin.ask('POST', '/companies', ['Acme']))).to.deep.equal([''])
    const raw = '{"name":"Acme","__proto__":{"balance":5}}'
    expect(errorPaths(await admin.ask('POST', '/companies', undefined, { raw }))).to.deep.equal(['__proto__'])
  })

  it('refuses an unknown query parameter', async () => {
    expect(errorPaths(await admin.get('/companies?limti=5'))).to.deep.equal(['limti'])
    expect(errorPaths(await admin.get('/companies?limit=5&limit=6'))).to.deep.equal(['limit'])
  })

  it('answers 404 for an unknown id', async () => {
    const { app } = await createTenant(admin)
    const missing: [string, string, unknown?][] = [
      ['GET', '/companies/cmp_none'],
      ['GET', '/companies/cmp_none/apps'],
      ['POST', '/companies/cmp_none/apps', { name: 'x' }],
      ['GET', '/apps/app_none'],
      ['PATCH', '/apps/app_none', { name: 'x' }],
      ['GET', '/apps/app_none/keys'],
      ['POST', '/apps/app_none/keys', { kind: 'server', mode: 'test' }],
      ['GET', '/apps/app_none/verifications'],
      ['POST', '/apps/app_none/route', { recipient: '+447911123456' }],
      ['GET', '/apps/app_none/events'],
      ['DELETE', '/keys/key_none'],
      ['GET', '/verifications/otp_none'],
      ['GET', `/companies/${app}`],
      ['GET', '/companies/%00%ff'],
    ]
    for (const [method, path, body] of missing) {
      const answer = await admin.ask(method, path, body)
      expect(answer.body, `${method} ${path}`).to.include({ type: 'HTTPException', status: 404 })
    }
  })

  it('forbids caching of answers, and logs no token', async () => {
    expect((await admin.get('/companies')).headers.get('cache-control')).to.equal('no-store')
    for (const { token } of TOKENS) expect(admin.captured.output()).not.to.contain(token)
  })
})

/** Sends the path as it is written: `fetch` would normalise it. */
const statusOf = ({ url }: TestAdmin, method: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    request({ hostname, port, method, path }, answer => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })

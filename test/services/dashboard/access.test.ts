// Access to the admin API, and its answers to malformed requests.
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

  it('refuses a missing body', async () => {
    expect(errorPaths(await admin.ask('POST', '/companies'))).to.deep.equal([''])
  })

  it('refuses a query parameter that is given twice', async () => {
    expect(errorPaths(await admin.get('/companies?limit=5&limit=6'))).to.deep.equal(['limit'])
  })

  it('forbids caching of answers, and logs no token', async () => {
    expect((await admin.get('/companies')).headers.get('cache-control')).to.equal('no-store')
    for (const { token } of TOKENS) expect(admin.captured.output()).not.to.contain(token)
  })
})

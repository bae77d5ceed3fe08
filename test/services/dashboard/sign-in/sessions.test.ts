// Sessions of the dashboard: how one begins, what it is refused for, and how it ends.
import { expect } from 'chai'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { userContext } from '../../../../services/domain/users/documents.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin, TOKENS } from '../../../support/admin-api.ts'
import { type Browser, post, signIn, userBrowser } from '../../../support/dashboard-session.ts'
import { rawDocuments } from '../../../support/raw-documents.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { keyringOf } from '../../../support/tenancy.ts'

const [ADA, BOB] = TOKENS as [(typeof TOKENS)[0], (typeof TOKENS)[0]]
const HOUR_MS = 3_600_000

onEmbeddedStore('a session', fresh => {
  let store: CountersignStore
  let admin: TestAdmin
  beforeEach(async () => {
    store = await fresh()
    admin = await startAdmin(store)
  })
  afterEach(closeAdmins)

  const signInAsOperator = (): Promise<Browser> => signIn(admin.url, { token: ADA.token })
  const statusOf = async (browser: Browser, path = '/me'): Promise<number> => (await browser.ask('GET', path)).status

  it('begins with an operator’s token, in a cookie that no page can read', async () => {
    const answer = await post(admin.url, { token: ADA.token })
    expect(answer.status).to.equal(200)
    expect(answer.body).to.include({ id: null, name: 'ada', email: null, role: 'operator', company_id: null })
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).to.match(/^countersign_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
    const browser = await signInAsOperator()
    expect((await browser.ask('GET', '/me')).body).to.deep.equal(browser.me)
    expect((await browser.ask('POST', '/companies', { name: 'Acme' })).status).to.equal(201)
  })

  it('is asked for without a refusal where there is none, or none any more', async () => {
    const nobody = { status: 200, body: { me: null, passkeys: false } }
    expect(await admin.ask('GET', '/session', undefined, { token: null })).to.deep.include(nobody)
    // The cookie alone counts: a token is no session.
    expect(await admin.get('/session')).to.deep.include(nobody)
    const browser = await signInAsOperator()
    expect((await browser.ask('GET', '/session')).body).to.deep.equal({ me: browser.me, passkeys: false })
    const { cookie } = browser
    await browser.ask('POST', '/sign-out')
    browser.cookie = cookie
    expect(await browser.ask('GET', '/session')).to.deep.include(nobody)
    browser.cookie = 'malformed'
    expect(await browser.ask('GET', '/session')).to.deep.include(nobody)
  })

  it('has a cookie that no other host can set when PUBLIC_URL is https, and takes no other there', async () => {
    const secure = await startAdmin(store, { publicUrl: 'https://console.example' })
    const [cookie = ''] = (await post(secure.url, { token: ADA.token })).headers.getSetCookie()
    expect(cookie).to.match(
      /^__Host-countersign_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    )
    const [pair = ''] = cookie.split(';')
    const statusWith = async (Cookie: string) =>
      (await secure.ask('GET', '/me', undefined, { token: null, headers: { Cookie } })).status
    expect(await statusWith(pair)).to.equal(200)
    expect(await statusWith(pair.replace('__Host-', ''))).to.equal(401)
  })

  it('leaves neither its token nor its CSRF token in the store and the log', async () => {
    const { cookie, csrf } = await signInAsOperator()
    const stored = [...(await rawDocuments(store, 'sessions')), ...(await rawDocuments(store, 'audit'))].join()
    for (const secret of [cookie ?? '', csrf, ADA.token]) {
      expect(stored).not.to.include(secret)
      expect(admin.captured.output()).not.to.include(secret)
    }
  })

  it('is not begun by a wrong token; ten of them in a minute stop even the right one, here and as a bearer', async () => {
    for (let guesses = 0; guesses < 10; guesses += 1)
      expect((await post(admin.url, { token: `guess-${guesses}` })).status).to.equal(401)
    const refused = await post(admin.url, { token: ADA.token })
    expect(refused.body).to.include({ type: 'RateLimitExceededError', scope: 'operator_token', retry_after: 60 })
    expect(refused.headers.getSetCookie()).to.deep.equal([])
    expect((await admin.get('/companies')).status).to.equal(429)
    await admin.clock.advance(60_000)
    expect((await post(admin.url, { token: ADA.token })).status).to.equal(200)
  })

  it('needs the CSRF token and the Origin for a change, and neither for reading', async () => {
    const browser = await signInAsOperator()
    const change = (headers: Record<string, string>) => browser.ask('POST', '/companies', { name: 'Acme' }, headers)
    for (const headers of [
      { 'X-CSRF-Token': '' },
      { 'X-CSRF-Token': 'x'.repeat(43) },
      { 'X-CSRF-Token': browser.cookie ?? '' },
      { Origin: '' },
      { Origin: 'null' },
      { Origin: 'https://evil.example' },
      { Origin: `${admin.url}.evil.example` },
      { Origin: admin.url.replace('http:', 'ftp:') },
      { 'X-CSRF-Token': (await signInAsOperator()).csrf },
    ]) {
      const { status, body } = await change(headers)
      expect(status, JSON.stringify(headers)).to.equal(403)
      expect(body.type).to.equal('HTTPException')
    }
    expect((await browser.ask('GET', '/companies', undefined, { Origin: '', 'X-CSRF-Token': '' })).status).to.equal(200)
    expect((await admin.get('/companies')).body.items).to.deep.equal([])
    expect((await change({})).status).to.equal(201)
  })

  it('takes changes from PUBLIC_URL only, where that is set', async () => {
    const proxied = await startAdmin(store, { publicUrl: 'https://console.example' })
    const browser = await signIn(proxied.url, { token: ADA.token }, { origin: 'https://console.example' })
    expect((await browser.ask('POST', '/companies', { name: 'Acme' })).status).to.equal(201)
    const refused = await browser.ask('POST', '/companies', { name: 'Acme' }, { Origin: proxied.url })
    expect(refused.status).to.equal(403)
    expect(refused.body.detail).to.include('https://console.example')
    expect((await post(proxied.url, { token: ADA.token }, { Origin: 'https://evil.example' })).status).to.equal(403)
  })

  it('is ignored beside a bearer: that one decides, with its own name', async () => {
    const browser = await signInAsOperator()
    const withBearer = (token: string, method = 'GET') =>
      browser.ask(method, method === 'GET' ? '/me' : '/companies', method === 'GET' ? undefined : { name: 'Acme' }, {
        Authorization: `Bearer ${token}`,
        Origin: '',
        'X-CSRF-Token': '',
      })
    expect((await withBearer(BOB.token)).body).to.include({ name: 'bob', session_id: null, csrf_token: null })
    expect((await withBearer(BOB.token, 'POST')).status).to.equal(201)
    expect((await withBearer('wrong')).status).to.equal(401)
  })

  it('cannot be fixed by an attacker: signing in makes a new token, and ends the session of the cookie before', async () => {
    const planted = await signInAsOperator()
    const Cookie = `countersign_session=${planted.cookie}`
    const answer = await post(admin.url, { token: BOB.token }, { Cookie })
    expect(answer.headers.getSetCookie()[0]).not.to.include(planted.cookie)
    expect(await statusOf(planted)).to.equal(401)
    const records = (await admin.get('/audit?action=session.end')).body.items
    expect(records[0]).to.include({ who: 'bob', target: planted.me.session_id, outcome: 'done' })
    const chosen = 'A'.repeat(43)
    const other = await post(admin.url, { token: BOB.token }, { Cookie: `countersign_session=${chosen}` })
    expect(other.headers.getSetCookie()[0]).not.to.include(chosen)
  })

  it('is refused when the browser sends two different cookies, or a malformed one', async () => {
    const [one, other] = [await signInAsOperator(), await signInAsOperator()]
    const name = 'countersign_session'
    const ask = (Cookie: string) => one.ask('GET', '/me', undefined, { Cookie })
    expect((await ask(`${name}=${one.cookie}; ${name}=${other.cookie}`)).status).to.equal(401)
    expect((await ask(`a=b; ${name}=${one.cookie}; ${name}=${one.cookie}`)).status).to.equal(200)
    for (const value of ['', 'x', `${one.cookie}x`, '"', '%00', 'A'.repeat(43), 'A'.repeat(8_000)])
      expect((await ask(`${name}=${value}`)).status, value).to.equal(401)
    expect((await ask(`x${name}=${one.cookie}`)).status).to.equal(401)
    expect((await ask(`${name.toUpperCase()}=${one.cookie}`)).status).to.equal(401)
  })

  it('ends after two hours without use, for which a page that reads by itself does not count', async () => {
    const browser = await signInAsOperator()
    const poll = () => browser.ask('GET', '/me', undefined, { 'X-Poll': '1' })
    await admin.clock.advance(2 * HOUR_MS - 1)
    expect(await statusOf(browser)).to.equal(200)
    await admin.clock.advance(HOUR_MS)
    expect((await poll()).status).to.equal(200)
    const [listed] = (await browser.ask('GET', '/sessions', undefined, { 'X-Poll': '1' })).body.items
    expect(Date.parse(listed.expires_at)).to.equal(admin.clock.now() + HOUR_MS)
    await admin.clock.advance(HOUR_MS)
    expect((await poll()).status).to.equal(401)
    expect(await statusOf(browser)).to.equal(401)
  })

  it('ends after twelve hours, however often it is used', async () => {
    const browser = await signInAsOperator()
    for (let hours = 0; hours < 12; hours += 1) {
      expect(await statusOf(browser), `after ${hours} hours`).to.equal(200)
      await admin.clock.advance(HOUR_MS)
    }
    expect(await statusOf(browser)).to.equal(401)
    const [session] = await store.docs('sessions').find({}, { sort: { _id: 1 }, limit: 1 })
    expect(session?.purge_at.getTime()).to.equal(admin.clock.now())
  })

  it('ends at sign-out, in every process, and the browser forgets it', async () => {
    const elsewhere = await startAdmin(store, { clock: admin.clock })
    const browser = await signInAsOperator()
    const cookie = browser.cookie
    const answer = await browser.ask('POST', '/sign-out')
    expect(answer.status).to.equal(204)
    expect(answer.headers.getSetCookie()[0]).to.match(/^countersign_session=; Path=\/; Max-Age=0; HttpOnly/)
    for (const { url } of [admin, elsewhere]) {
      const again = await fetch(`${url}/admin/v1/me`, { headers: { Cookie: `countersign_session=${cookie}` } })
      expect(again.status).to.equal(401)
    }
  })

  it('is listed to its owner, with its browser and when it was last seen, and to no one else', async () => {
    const browser = await signInAsOperator()
    await signIn(admin.url, { token: BOB.token })
    await admin.clock.advance(1)
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
    await post(admin.url, { token: ADA.token }, { 'User-Agent': firefox })
    await admin.clock.advance(90_000)
    await statusOf(browser)
    const { items } = (await browser.ask('GET', '/sessions')).body
    expect(items).to.have.length(2)
    expect(items[0]).to.include({ browser: 'Firefox on Linux', current: false })
    expect(items[1]).to.include({ id: browser.me.session_id, current: true, browser: 'node' })
    expect(Date.parse(items[1].last_seen_at) - Date.parse(items[1].at)).to.equal(90_001)
    expect(Date.parse(items[0].last_seen_at)).to.equal(Date.parse(items[0].at))
  })

  it('can be ended one by one by its owner, or all at once with the current one', async () => {
    const [one, two, three] = [await signInAsOperator(), await signInAsOperator(), await signInAsOperator()]
    const bob = await signIn(admin.url, { token: BOB.token })
    expect((await bob.ask('DELETE', `/sessions/${one.me.session_id}`)).status).to.equal(404)
    expect((await one.ask('DELETE', `/sessions/${two.me.session_id}`)).status).to.equal(204)
    expect([await statusOf(one), await statusOf(two), await statusOf(three)]).to.deep.equal([200, 401, 200])
    expect((await one.ask('DELETE', `/sessions/${two.me.session_id}`)).status).to.equal(404)
    expect((await one.ask('DELETE', '/sessions')).status).to.equal(204)
    expect([await statusOf(one), await statusOf(three), await statusOf(bob)]).to.deep.equal([401, 401, 200])
  })

  it('of an operator ends when the token is changed or removed', async () => {
    const browser = await signInAsOperator()
    const restarted = async (tokens: typeof TOKENS): Promise<number> => {
      const { url } = await startAdmin(store, { tokens, clock: admin.clock })
      return (await fetch(`${url}/admin/v1/me`, { headers: { Cookie: `countersign_session=${browser.cookie}` } }))
        .status
    }
    expect(await restarted([ADA, BOB])).to.equal(200)
    expect(await restarted([BOB])).to.equal(401)
    expect(await restarted([{ name: 'ada', token: 'another-token' }, BOB])).to.equal(401)
  })

  it('of a user has the role that the user has now, and ends with the user', async () => {
    const { company } = await createTenant(admin)
    const { browser, user } = await userBrowser(admin, company, 'developer')
    const create = () => browser.ask('POST', `/companies/${company}/apps`, { name: 'Second' })
    expect((await create()).status).to.equal(201)
    await admin.ask('PATCH', `/users/${user._id}`, { role: 'viewer' })
    expect((await create()).body).to.include({ status: 403, detail: 'This needs the role developer. Yours is viewer.' })
    expect((await browser.ask('GET', '/me')).body.role).to.equal('viewer')
    await admin.ask('DELETE', `/users/${user._id}`)
    expect(await statusOf(browser)).to.equal(401)
    expect((await rawDocuments(store, 'sessions')).join()).not.to.include(user._id)
  })

  it('is in the audit log when it begins and ends', async () => {
    const { company } = await createTenant(admin)
    const { browser, user } = await userBrowser(admin, company, 'viewer')
    await admin.clock.advance(1)
    await browser.ask('POST', '/sign-out')
    await admin.clock.advance(1)
    const operator = await signInAsOperator()
    await admin.clock.advance(1)
    await operator.ask('DELETE', '/sessions')
    const { items } = (await admin.get('/audit')).body
    const records = items
      .map((one: { who: string; action: string }) => `${one.who} ${one.action}`)
      .reverse()
      .slice(2)
    expect(records).to.deep.equal([
      `${user._id} (u****@shop.example) session.end`,
      'ada session.create',
      'ada session.end_all',
    ])
    const ofCompany = (await admin.get(`/audit?company_id=${company}`)).body.items
    expect(ofCompany.map((one: { action: string }) => one.action)).to.include('session.end')
  })

  /** Writes to the store as an attacker who has access to it and to no key. */
  const forge = (name: 'users' | 'sessions', _id: string, $set: object): Promise<unknown> =>
    store.docs(name as 'sessions').modify({ _id }, { $set })
  const refusedIn = (name: string): string[] =>
    admin.captured
      .output()
      .split('\n')
      .filter(line => line.includes('access.refused') && line.includes(`"${name}"`))

  it('is refused once somebody has written to it in the store, and this is logged', async () => {
    const { company } = await createTenant(admin)
    const operator = (await signInAsOperator()).me.session_id
    const stored = (await store.docs('sessions').get([operator])).get(operator)
    const other = await userBrowser(admin, company, 'owner')
    for (const members of [
      { operator: stored?.operator, user_id: null },
      { operator: stored?.operator, user_id: null, mac: stored?.mac },
      { user_id: other.user._id },
      { expires_at: admin.clock.now() + 100 * HOUR_MS },
      { mac: 'c1.forged' },
      { mac: 'c9.unknown' },
      { mac: null },
    ]) {
      const { browser } = await userBrowser(admin, company, 'viewer')
      expect(await statusOf(browser)).to.equal(200)
      await forge('sessions', browser.me.session_id, members)
      expect(await statusOf(browser), JSON.stringify(members)).to.equal(401)
    }
    expect(refusedIn('sessions')).to.have.length(7)
    const planted = (await store.docs('sessions').get([other.browser.me.session_id])).get(other.browser.me.session_id)
    await store.docs('sessions').remove({ _id: planted?._id ?? '' }, 1)
    const { mac, ...unstamped } = planted as NonNullable<typeof planted>
    await store.docs('sessions').insert([unstamped])
    expect(await statusOf(other.browser), 'of a release that made no MACs').to.equal(401)
  })

  it('is refused once somebody has written another role, company or address to its user', async () => {
    const { company } = await createTenant(admin)
    const owner = await userBrowser(admin, company, 'owner')
    const elsewhere = (await createTenant(admin)).company
    for (const members of [
      { role: 'owner' },
      { company_id: elsewhere },
      { sealed_email: owner.user.sealed_email },
      // With DATA_KEYS, as the edge and the sweeper have them, but without CODE_SECRETS.
      (id: string) => ({ sealed_email: admin.keyring.seal('eve@evil.example', userContext.email(id)) }),
      { role: 'owner', mac: owner.user.mac },
    ]) {
      const { browser, user } = await userBrowser(admin, company, 'viewer')
      expect(await statusOf(browser)).to.equal(200)
      await forge('users', user._id, typeof members === 'function' ? members(user._id) : members)
      expect(await statusOf(browser), JSON.stringify(members)).to.equal(401)
    }
    expect(refusedIn('users')).to.have.length(5)
    expect(await statusOf(owner.browser)).to.equal(200)
  })

  it('outlives a rotation of code secrets while the old one is still configured, and one of data keys', async () => {
    const { company } = await createTenant(admin)
    const { browser, user } = await userBrowser(admin, company, 'viewer')
    const statusWith = async (options: { keyring?: number[]; codeSecrets?: number[] }): Promise<number> => {
      const { url } = await startAdmin(store, { ...options, clock: admin.clock })
      const headers = { Cookie: `countersign_session=${browser.cookie}` }
      return (await fetch(`${url}/admin/v1/me`, { headers })).status
    }
    expect(await statusWith({ codeSecrets: [2, 1] })).to.equal(200)
    expect(await statusWith({ codeSecrets: [2] })).to.equal(401)
    const [context, rotated] = [userContext.email(user._id), keyringOf([2, 1], [])]
    await forge('users', user._id, { sealed_email: rotated.seal(rotated.unseal(user.sealed_email, context), context) })
    expect(await statusWith({ keyring: [2, 1] })).to.equal(200)
  })
})

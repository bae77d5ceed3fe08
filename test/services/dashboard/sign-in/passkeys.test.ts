// Passkeys: added in a session that has proved lately whose it is, used to sign in and to prove it again, and what an attacker tries.
import { expect } from 'chai'
import { isoTime } from '../../../../infra/iso-time.ts'
import type { PasskeyAnswer } from '../../../../services/dashboard/sign-in/passkeys/schemas.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import type { UserDoc } from '../../../../services/domain/users/documents.ts'
import { renewUserStamps } from '../../../../services/domain/users/user-stamps.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import type { Answer } from '../../../support/api-caller.ts'
import { type Authenticator, createAuthenticator, type Lies } from '../../../support/authenticator.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { type Browser, createVisitor, signIn, userBrowser, type Visitor } from '../../../support/dashboard-session.ts'
import { eachStore } from '../../../support/stores.ts'
import { keyringOf } from '../../../support/tenancy.ts'
import { testGrants } from '../../../support/users.ts'

const ORIGIN = 'http://localhost:3999'
const STEP_UP_MS = 10 * 60_000
const CHALLENGE_MS = 5 * 60_000
const INVITE = { email: 'new@shop.example', role: 'viewer' }

eachStore('a passkey', fresh => {
  let store: CountersignStore
  let admin: TestAdmin
  let company: string
  beforeEach(async () => {
    store = await fresh()
    admin = await startAdmin(store, { publicUrl: ORIGIN })
    company = (await createTenant(admin)).company
  })
  afterEach(closeAdmins)

  const call = (browser: Browser, method: string, path: string, body?: unknown): Promise<Answer> =>
    browser.ask(method, path, body, { Origin: ORIGIN })

  async function add(browser: Browser, own = createAuthenticator(ORIGIN), lies?: Lies): Promise<Answer> {
    const options = await call(browser, 'POST', '/me/passkeys/options')
    expect(options.status, options.text).to.equal(200)
    const credential = own.create(options.body, lies)
    return call(browser, 'POST', '/me/passkeys', { name: 'Work laptop', credential })
  }
  /** A user with a passkey. */
  async function owner(): Promise<{ user: UserDoc; browser: Browser; own: Authenticator }> {
    const own = createAuthenticator(ORIGIN)
    const { user, browser } = await userBrowser(admin, company, 'owner')
    expect((await add(browser, own)).status).to.equal(201)
    return { user, browser, own }
  }
  const visit = (): Visitor => createVisitor(admin.url)
  const options = async (visitor: Visitor): Promise<Record<string, unknown>> => {
    const { status, body, text } = await visitor.enter({}, {}, '/sign-in/passkey')
    expect(status, text).to.equal(200)
    return body
  }
  const enter = async (own: Authenticator, lies?: Lies, visitor = visit()): Promise<Answer> =>
    visitor.enter({ passkey: own.get(await options(visitor), lies) })
  async function prove(browser: Browser, own: Authenticator, lies?: Lies): Promise<Answer> {
    const asked = await call(browser, 'POST', '/step-up/passkey')
    expect(asked.status, asked.text).to.equal(200)
    return call(browser, 'POST', '/step-up', { passkey: own.get(asked.body, lies) })
  }
  const invite = (browser: Browser) => call(browser, 'POST', `/companies/${company}/users`, INVITE)

  it('is added by its owner, signs the owner in without an address, and is removed', async () => {
    const { user, browser, own } = await owner()
    await add(browser)
    const { available, items } = (await call(browser, 'GET', '/me/passkeys')).body
    expect([available, items.length, items[0].name, items[0].last_used_at]).to.deep.equal([
      true,
      2,
      'Work laptop',
      null,
    ])
    const entered = await enter(own)
    expect([entered.status, entered.body.id]).to.deep.equal([200, user._id])
    const after: PasskeyAnswer[] = (await call(browser, 'GET', '/me/passkeys')).body.items
    const [used, ...unused] = after.sort(
      (one, other) => (one.last_used_at === null ? 1 : 0) - (other.last_used_at === null ? 1 : 0),
    )
    expect([used?.last_used_at, unused[0]?.last_used_at]).to.deep.equal([isoTime(admin.clock.now()), null])
    const actions = (await admin.get('/audit')).body.items.map(({ action }: { action: string }) => action)
    expect(actions).to.include.members(['passkey.create', 'session.create'])
    expect((await call(browser, 'DELETE', `/me/passkeys/${used?.id}`)).status).to.equal(204)
    expect((await enter(own)).status).to.equal(401)
  })

  it('is one of twenty of a person, also when more are added at once', async () => {
    const { user, browser } = await owner()
    const bodies: unknown[] = []
    for (let nth = 0; nth < 22; nth += 1) {
      const { body } = await call(browser, 'POST', '/me/passkeys/options')
      bodies.push({ name: `Key ${nth}`, credential: createAuthenticator(ORIGIN).create(body) })
    }
    const added = await Promise.all(bodies.map(body => call(browser, 'POST', '/me/passkeys', body)))
    const refused = added.filter(({ status }) => status !== 201)
    expect(refused).to.have.length(3)
    for (const { status, text } of refused) expect(status, text).to.be.oneOf([409, 503])
    const listed = async () => (await call(browser, 'GET', '/me/passkeys')).body.items
    expect(await listed()).to.have.length(20)
    expect(await store.docs('passkeys').count({ user_id: user._id })).to.equal(20)
    expect((await call(browser, 'POST', '/me/passkeys/options')).status).to.equal(409)
  })

  it('is of its owner alone: others neither see nor remove it, and it goes with its user', async () => {
    const { user, browser, own } = await owner()
    const { id } = (await call(browser, 'GET', '/me/passkeys')).body.items[0]
    const { browser: other } = await userBrowser(admin, company, 'owner')
    expect((await call(other, 'GET', '/me/passkeys')).body.items).to.deep.equal([])
    expect((await call(other, 'DELETE', `/me/passkeys/${id}`)).status).to.equal(404)
    expect((await call(other, 'DELETE', `/users/${user._id}`)).status).to.equal(204)
    expect((await enter(own)).status).to.equal(401)
    expect(await store.docs('passkeys').count({ user_id: user._id })).to.equal(0)
  })

  it('is refused from another origin, in a frame of one, for another host, without its owner verified, and with another’s user handle', async () => {
    const { own } = await owner()
    const { user: other } = await userBrowser(admin, company, 'owner')
    const lies: Lies[] = [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { userVerified: false },
      { crossOrigin: true },
      { userHandle: Buffer.from(other._id).toString('base64url') },
      { challenge: Buffer.from('1.2.3').toString('base64url') },
    ]
    for (const lie of lies) expect((await enter(own, lie)).status, JSON.stringify(lie)).to.equal(401)
    expect((await enter(createAuthenticator(ORIGIN), { userHandle: 'AAAA' })).status, 'a stranger’s').to.equal(401)
    expect((await enter(own)).status).to.equal(200)
    const { browser } = await userBrowser(admin, company, 'owner')
    for (const lie of lies.slice(0, 4))
      expect((await add(browser, createAuthenticator(ORIGIN), lie)).status, JSON.stringify(lie)).to.equal(403)
  })

  it('signs a challenge that is good once, even twice at the same time, and for five minutes', async () => {
    const { own } = await owner()
    const visitor = visit()
    // An authenticator that does not count: the challenge alone must tell.
    const passkey = own.get(await options(visitor), { counter: 0 })
    const cookies = new Map(visitor.cookies)
    const again = () => {
      const same = visit()
      for (const [name, value] of cookies) same.cookies.set(name, value)
      return same.enter({ passkey })
    }
    const both = await Promise.all([again(), again()])
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 401])
    expect((await again()).status).to.equal(401)
    const late = own.get(await options(visitor), { counter: 0 })
    await admin.clock.advance(CHALLENGE_MS)
    expect((await visitor.enter({ passkey: late })).status).to.equal(401)
  })

  it('is refused with the challenge of another browser, or for another use', async () => {
    const { browser, own } = await owner()
    const [victim, attacker] = [visit(), visit()]
    const passkey = own.get(await options(victim))
    expect((await attacker.enter({ passkey })).status, 'without a cookie').to.equal(401)
    await options(attacker)
    expect((await attacker.enter({ passkey })).status).to.equal(401)
    const forStepUp = own.get((await call(browser, 'POST', '/step-up/passkey')).body)
    expect((await victim.enter({ passkey: forStepUp })).status).to.equal(401)
    expect((await victim.enter({ passkey })).status).to.equal(200)
  })

  it('is refused when its counter does not grow, as that of a copy', async () => {
    const { own } = await owner()
    expect((await enter(own, { counter: 7 })).status).to.equal(200)
    for (const counter of [7, 6, 0]) expect((await enter(own, { counter })).status).to.equal(401)
    expect((await enter(own, { counter: 8 })).status).to.equal(200)
  })

  it('signs nobody in when it was written into the store, or given to another user there', async () => {
    const { user, own } = await owner()
    const { user: victim } = await userBrowser(admin, company, 'owner')
    const passkeys = store.docs('passkeys')
    const [stored] = await passkeys.find({ credential_id: own.id }, { sort: { credential_id: 1 }, limit: 1 })
    if (!stored) throw new Error('there is no passkey')
    const handle = { userHandle: Buffer.from(victim._id).toString('base64url') }
    await passkeys.modify({ _id: stored._id }, { $set: { user_id: victim._id } })
    expect((await enter(own, handle)).status).to.equal(401)
    await passkeys.modify({ _id: stored._id }, { $set: { user_id: user._id, counter: 0 } })
    expect((await enter(own)).status).to.equal(200)
    const planted = createAuthenticator(ORIGIN)
    const { mac, ...members } = stored
    await passkeys.insert([{ ...members, _id: 'psk_planted', credential_id: planted.id }])
    expect((await enter(planted, { userHandle: Buffer.from(user._id).toString('base64url') })).status).to.equal(401)
    expect(admin.captured.output()).to.include('access.refused')
  })

  it('stays good when its code secret is rotated out after a start', async () => {
    const { own } = await owner()
    const rotated = { keyring: keyringOf([1], [2, 1]) }
    await renewUserStamps({ store, grants: testGrants(rotated.keyring), log: createCapturedLog().log })
    admin = await startAdmin(store, { publicUrl: ORIGIN, codeSecrets: [2] })
    expect((await enter(own)).status).to.equal(200)
  })

  it('is not offered where PUBLIC_URL is an address, plain http or missing, nor to an operator', async () => {
    for (const publicUrl of ['https://192.0.2.1', 'https://[2001:db8::1]', 'http://otp.example', undefined]) {
      const elsewhere = await startAdmin(store, publicUrl === undefined ? {} : { publicUrl })
      const session = await elsewhere.ask('GET', '/session', undefined, { token: null })
      expect(session.body.passkeys, publicUrl).to.equal(false)
      expect((await elsewhere.ask('POST', '/sign-in/passkey', {}, { token: null })).status).to.equal(409)
    }
    expect((await admin.get('/me/passkeys')).body).to.deep.equal({ available: false, items: [] })
    expect((await admin.ask('POST', '/me/passkeys/options', {})).status).to.equal(409)
  })

  describe('as a step-up', () => {
    it('is asked for ten minutes after the sign-in, in its own session alone, and not of a token', async () => {
      const { user, browser, own } = await owner()
      const second = await enter(own)
      expect(second.body.id).to.equal(user._id)
      expect((await invite(browser)).status).to.equal(201)
      await admin.clock.advance(STEP_UP_MS)
      const refused = await invite(browser)
      expect(refused.body).to.include({ status: 403, type: 'StepUpRequiredError' })
      expect(refused.body.step_up).to.deep.equal(['passkey', 'code'])
      expect((await call(browser, 'GET', '/me')).status, 'what needs none').to.equal(200)
      expect((await prove(browser, own)).body).to.deep.equal({ next: null })
      expect((await invite(browser)).status).to.equal(201)
      await admin.clock.advance(STEP_UP_MS)
      expect((await invite(browser)).status).to.equal(403)
      expect(
        (await admin.ask('POST', `/companies/${company}/users`, { ...INVITE, email: 'b@shop.example' })).status,
      ).to.equal(201)
    })

    it('is refused with the passkey of another user, and with a challenge of another session', async () => {
      const [{ browser, own }, { browser: otherBrowser, own: others }] = [await owner(), await owner()]
      await admin.clock.advance(STEP_UP_MS)
      expect((await prove(browser, others)).status).to.equal(403)
      const asked = (await call(otherBrowser, 'POST', '/step-up/passkey')).body
      expect((await call(browser, 'POST', '/step-up', { passkey: own.get(asked) })).status).to.equal(403)
      expect((await invite(browser)).status).to.equal(403)
      expect((await prove(browser, own)).status).to.equal(200)
      expect((await invite(browser)).status).to.equal(201)
      expect((await invite(otherBrowser)).status, 'another session').to.equal(403)
    })

    it('of a session in the store cannot be written by hand', async () => {
      const { browser } = await userBrowser(admin, company, 'owner')
      await admin.clock.advance(STEP_UP_MS)
      const stepped_up_at = admin.clock.now()
      await store.docs('sessions').modify({ _id: browser.me.session_id }, { $set: { stepped_up_at } })
      const refused = await invite(browser)
      expect(refused.status, refused.text).to.equal(401)
    })

    it('of an operator is the operator’s own token', async () => {
      const browser = await signIn(admin.url, { token: 'token-of-ada' })
      await admin.clock.advance(STEP_UP_MS)
      const credit = () => call(browser, 'POST', `/companies/${company}/credit`, { micros: 5, note: 'a transfer' })
      expect((await credit()).body.step_up).to.deep.equal(['token'])
      for (const token of ['token-of-bob', 'wrong'])
        expect((await call(browser, 'POST', '/step-up', { token })).status).to.equal(403)
      expect((await call(browser, 'POST', '/step-up', { token: 'token-of-ada' })).status).to.equal(200)
      expect((await credit()).status).to.equal(200)
    })
  })
})

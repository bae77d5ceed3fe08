// Users of the dashboard sign in with a code from Countersign itself: without an email provider it is in the sandbox's inbox, with one it
// comes by email.
import { expect } from 'chai'
import { CONSOLE_APP_ID, CONSOLE_COMPANY_ID } from '../../services/domain/tenancy/console.ts'
import { ask } from '../support/api-caller.ts'
import { startCountersign } from '../support/countersign.ts'
import { type Browser, createBrowser, createVisitor, post, signIn, type Visitor } from '../support/dashboard-session.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { CACHE_TTL_MS, type Flow, startFlow, wrongCode } from '../support/flow.ts'
import { codeIn } from '../support/live-flow.ts'
import { collectionsContaining } from '../support/raw-documents.ts'
import { startMailServer } from '../support/vendors/smtp.ts'

const COOLDOWN_MS = 30_000
const HOUR_MS = 3_600_000

describe('signing in to the dashboard', () => {
  let flow: Flow
  let addresses = 0
  let browsers = 0
  before(async () => {
    flow = await startFlow({ engines: 'embedded', env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
  })
  after(async () => {
    await flow?.stop()
  })

  const freshAddress = (): string => {
    addresses += 1
    return `person${addresses}@shop.example`
  }
  const url = (): string => flow.countersign.url
  /** A browser that has no cookies yet, at an address of its own. `post` does not advance the clock. */
  const newBrowser = (): Visitor & { post: Visitor['enter'] } => {
    const visitor = createVisitor(url())
    browsers += 1
    const from = { 'X-Forwarded-For': `5.1.${browsers >> 8}.${browsers & 255}` }
    const post: Visitor['enter'] = (body, headers, path) => visitor.enter(body, { ...from, ...headers }, path)
    return { ...visitor, post, enter: (...request) => flow.advanceUntil(post(...request)) }
  }
  let enter: Visitor['enter']
  beforeEach(() => {
    enter = newBrowser().enter
  })
  /** Waits until the log has said so often of this user what became of a code that was asked for. */
  const asked = (id: string, outcome: 'code_sent' | 'code_not_sent', times: number): Promise<void> =>
    flow.eventually(() => {
      const lines = flow.countersign.log.output().split('\n')
      const found = lines.filter(line => line.includes(`"sign_in.${outcome}"`) && line.includes(id))
      expect(found).to.have.length(times)
    })

  async function invite(
    email = freshAddress(),
    role = 'owner',
  ): Promise<{ email: string; company: string; id: string }> {
    const company = (await flow.admin('POST', '/companies', { name: 'Acme' })).body.id
    const { status, body, text } = await flow.admin('POST', `/companies/${company}/users`, { email, role, name: 'Ada' })
    expect(status, text).to.equal(201)
    return { email, company, id: body.id }
  }
  async function signInByCode(email: string, messages = 1, from: Pick<Visitor, 'enter'> = { enter }): Promise<Browser> {
    expect((await from.enter({ email })).status).to.equal(200)
    const answer = await from.enter({ email, code: await flow.waitForCode(email, messages) })
    expect(answer.status, answer.text).to.equal(200)
    return createBrowser(url(), answer)
  }

  it('takes an invitation and a code, and ends with the sign-out', async () => {
    const { email, company, id } = await invite()
    const asked = await enter({ email })
    expect([asked.status, asked.body.next, asked.body.sent_by]).to.deep.equal([200, 'code', 'sandbox'])
    const [message] = await flow.eventually(async () => {
      const inbox = await flow.inbox(email)
      expect(inbox).to.have.length(1)
      return inbox
    })
    expect(message).to.include({ channel: 'email', recipient: email })
    expect(message?.text).to.include('Countersign console')
    expect(message?.code).to.match(/^\d{8}$/)
    expect((await enter({ email, code: ' - ' })).status).to.equal(422)
    const answer = await enter({ email, code: [...(message?.code ?? '')].join(' ') })
    expect(answer.body).to.include({ id, name: 'Ada', email, role: null, company_id: null })

    const browser = createBrowser(url(), answer)
    expect((await browser.ask('GET', '/companies')).status).to.equal(403)
    const accepted = await browser.ask('POST', `/invitations/${id}/accept`)
    expect(accepted.body).to.include({ id, name: 'Ada', email, role: 'owner', company_id: company })
    await flow.advance(1)
    expect((await browser.ask('GET', '/companies')).body.items).to.have.length(1)
    expect((await browser.ask('POST', `/companies/${company}/apps`, { name: 'Shop' })).status).to.equal(201)
    expect((await browser.ask('GET', `/apps/${CONSOLE_APP_ID}`)).status).to.equal(404)
    expect((await browser.ask('GET', '/sandbox/messages')).body, 'the codes of others').to.deep.equal([])
    const [record] = (await browser.ask('GET', '/audit')).body.items
    expect(record).to.include({ who: `${id} (p****@shop.example)`, action: 'app.create' })
    const [user] = (await browser.ask('GET', `/companies/${company}/users`)).body.items
    expect(user.last_sign_in_at).to.be.a('string')
    expect((await browser.ask('POST', '/sign-out')).status).to.equal(204)
    for (const { headers } of [answer, accepted]) {
      const cookie = `countersign_session=${headers.getSetCookie()[0]?.split(/[=;]/)[1]}`
      expect((await ask(`${url()}/admin/v1/me`, { headers: { Cookie: cookie } })).status).to.equal(401)
    }
    expect(await collectionsContaining(flow.countersign.engines.store, email)).to.deep.equal([])
    expect(flow.countersign.log.output()).not.to.include(email)
  })

  it('leads to the company used last, whoever else has invited the person before', async () => {
    const squatter = await invite()
    const { email } = squatter
    const own = await invite(email)
    const browser = await signInByCode(email)
    const invitations = browser.me.invitations.map(({ id }: { id: string }) => id)
    expect(invitations).to.have.members([squatter.id, own.id])
    expect((await browser.ask('POST', `/invitations/${own.id}/accept`)).body.company_id).to.equal(own.company)
    await flow.advance(1)
    const again = await signInByCode(email, 2)
    expect(again.me).to.include({ id: own.id, company_id: own.company })
    expect(again.me.invitations).to.have.length(1)
    expect((await again.ask('GET', `/companies/${squatter.company}`)).status).to.equal(404)
    await again.ask('POST', `/invitations/${squatter.id}/accept`)
    await flow.advance(1)
    expect((await signInByCode(email, 3)).me.company_id).to.equal(squatter.company)
  })

  it('answers a stranger as a user, sends the stranger nothing, and refuses both alike', async () => {
    const [{ email }, stranger] = [await invite(), freshAddress()]
    const [forUser, forStranger] = [await enter({ email }), await enter({ email: stranger })]
    expect([forStranger.status, forStranger.body]).to.deep.equal([forUser.status, forUser.body])
    const code = wrongCode(await flow.waitForCode(email))
    const refusals = [await enter({ email, code }), await enter({ email: stranger, code })].map(({ status, body }) => {
      const { request_id, ...members } = body
      return { ...members, status }
    })
    expect(refusals[0]).to.deep.equal(refusals[1])
    expect(refusals[0]).to.include({ status: 401, type: 'HTTPException' })
    expect(await flow.inbox(stranger)).to.deep.equal([])
    expect(
      await flow.admin('GET', `/apps/${CONSOLE_APP_ID}/verifications?recipient=${stranger}`),
    ).to.have.nested.property('body.items.length', 0)
  })

  it('takes a code once, even twice at the same time', async () => {
    const { email } = await invite()
    await enter({ email })
    const code = await flow.waitForCode(email)
    const both = await Promise.all([enter({ email, code }), enter({ email, code })])
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 401])
    expect((await enter({ email, code })).status).to.equal(401)
  })

  it('takes a code only in the browser that asked for it, and counts no guess of another', async () => {
    const { email } = await invite()
    await enter({ email })
    const code = await flow.waitForCode(email)
    const withoutCookie = await newBrowser().enter({ email, code })
    expect([withoutCookie.status, withoutCookie.body.type]).to.deep.equal([401, 'HTTPException'])
    expect(withoutCookie.body.detail).to.include('browser that asked for it')
    const stranger = newBrowser()
    await stranger.enter({ email: freshAddress() })
    for (let guesses = 0; guesses < 6; guesses += 1)
      expect((await stranger.enter({ email, code: guesses === 0 ? code : wrongCode(code) })).status).to.equal(401)
    expect((await enter({ email, code })).status).to.equal(200)
  })

  it('is not hindered by strangers who ask for codes to the same address and guess at them', async () => {
    const { email, id } = await invite()
    await enter({ email })
    const code = await flow.waitForCode(email)
    const strangers = Array.from({ length: 5 }, newBrowser)
    await Promise.all(strangers.map(stranger => stranger.post({ email })))
    await asked(id, 'code_sent', 6)
    for (let guesses = 0; guesses < 5; guesses += 1) {
      const all = strangers.map(stranger => stranger.post({ email, code: wrongCode(code) }))
      for (const { status } of await flow.advanceUntil(Promise.all(all))) expect(status).to.equal(401)
    }
    expect((await enter({ email, code })).status, 'after 25 wrong codes').to.equal(200)
  })

  it('sends a mailbox twenty mails an hour at most in all its spellings, and a browser of the user five more', async () => {
    const { email, id } = await invite()
    const own = newBrowser()
    await signInByCode(email, 1, own)
    await Promise.all(Array.from({ length: 21 }, () => newBrowser().post({ email })))
    await asked(id, 'code_sent', 20)
    await asked(id, 'code_not_sent', 2)
    const alias = await invite(email.replace('@', '+1@'))
    await newBrowser().enter({ email: alias.email })
    await asked(alias.id, 'code_not_sent', 1)
    await signInByCode(email, 21, own)
    await flow.advance(HOUR_MS)
    await newBrowser().enter({ email })
    await asked(id, 'code_sent', 22)
  })

  it('refuses every code after five wrong ones, until a new code is asked for', async () => {
    const { email } = await invite()
    await enter({ email })
    const code = await flow.waitForCode(email)
    for (let guesses = 0; guesses < 5; guesses += 1)
      expect((await enter({ email, code: wrongCode(code) })).status).to.equal(401)
    expect((await enter({ email, code })).status).to.equal(401)
    await flow.advance(1)
    const browser = await signInByCode(email, 2)
    expect((await browser.ask('GET', '/me')).status).to.equal(200)
  })

  it('sends the same code again after the cooldown, and a new one once it was guessed at', async () => {
    const { email } = await invite()
    await enter({ email })
    const first = await flow.waitForCode(email)
    await enter({ email })
    await flow.advance(COOLDOWN_MS)
    await enter({ email })
    expect(await flow.waitForCode(email, 2)).to.equal(first)
    await enter({ email, code: wrongCode(first) })
    await enter({ email })
    await flow.waitForCode(email, 3)
    const otps = (await flow.admin('GET', `/apps/${CONSOLE_APP_ID}/verifications?recipient=${email}`)).body.items
    expect(otps.map(({ sends }: { sends: number }) => sends)).to.deep.equal([1, 2])
  })

  it('sends the code to the invited spelling, whatever was typed', async () => {
    const { email } = await invite()
    // The Kelvin sign is a K in lower case, and a different mailbox.
    const [kelvin, plain] = ['\u212aelvin@shop.example', 'kelvin@shop.example']
    await invite(plain)
    for (const [typed, stored] of [
      [email.toUpperCase(), email],
      [kelvin, plain],
    ] as const) {
      await enter({ email: typed })
      const code = await flow.waitForCode(stored)
      const [message] = await flow.inbox(stored)
      expect(message?.recipient).to.equal(stored)
      expect((await enter({ email: typed, code })).body.email).to.equal(stored)
    }
  })

  it('is proved again by a fresh code of the same browser, before a change that matters', async () => {
    const { email, company, id } = await invite()
    const own = newBrowser()
    const browser = await signInByCode(email, 1, own)
    await browser.ask('POST', `/invitations/${id}/accept`)
    const invitation = { email: freshAddress(), role: 'viewer' }
    const change = () => browser.ask('POST', `/companies/${company}/users`, invitation)
    await flow.advance(10 * 60_000)
    const refused = await change()
    expect(refused.body).to.include({ status: 403, type: 'StepUpRequiredError' })
    expect(refused.body.step_up).to.deep.equal(['code'])
    const stepUp = (by: Visitor, body: object) => {
      by.cookies.set('countersign_session', browser.cookie ?? '')
      return by.enter(body, { Origin: url(), 'X-CSRF-Token': browser.csrf }, '/step-up')
    }
    expect((await stepUp(own, {})).body).to.include({ next: 'code' })
    const code = await flow.waitForCode(email, 2)
    expect((await stepUp(newBrowser(), { code })).status, 'of another browser').to.equal(403)
    expect((await stepUp(own, { code: wrongCode(code) })).status).to.equal(403)
    expect((await change()).status).to.equal(403)
    const both = await Promise.all([stepUp(own, { code }), stepUp(own, { code })])
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 403])
    expect((await change()).status).to.equal(201)
  })

  it('is refused to a user who was removed, also with the code that was sent before', async () => {
    const { email, id } = await invite()
    const browser = await signInByCode(email)
    await flow.advance(1)
    await enter({ email })
    const code = await flow.waitForCode(email, 2)
    expect((await flow.admin('DELETE', `/users/${id}`)).status).to.equal(204)
    expect((await browser.ask('GET', '/me')).status).to.equal(401)
    expect((await enter({ email, code })).status).to.equal(401)
  })

  it('refuses further sign-ins of an address that tries sixty in a minute', async () => {
    const email = freshAddress()
    const headers = { 'X-Forwarded-For': '203.0.113.77' }
    for (let requests = 0; requests < 60; requests += 1)
      expect((await post(url(), { email }, headers)).status).to.equal(200)
    expect((await post(url(), { email }, headers)).body).to.include({
      type: 'RateLimitExceededError',
      scope: 'sign_in',
    })
    expect((await post(url(), { email }, { 'X-Forwarded-For': '203.0.113.78' })).status).to.equal(200)
  })

  it('has a console that every operator sees, whose codes cost nothing', async () => {
    const company = await flow.admin('GET', `/companies/${CONSOLE_COMPANY_ID}`)
    expect(company.body).to.include({ name: 'Countersign console', balance: 0 })
    const operator = await signIn(url(), { token: flow.countersign.secrets.adminTokens[0]?.token })
    const ids = (await operator.ask('GET', '/companies?limit=100')).body.items.map(({ id }: { id: string }) => id)
    expect(ids).to.include(CONSOLE_COMPANY_ID)
  })

  it('mails an invitation once the console has a provider, three times to one address, and leaves links out', async () => {
    const mail = await startMailServer()
    const [aside, provider] = ['aside', 'mail'].map(name => `/apps/${CONSOLE_APP_ID}/providers/${name}`) as [
      string,
      string,
    ]
    const config = { host: '127.0.0.1', port: mail.port, from: 'console@shop.example' }
    const inviteTo = async (name: string, email: string) => {
      const { body } = await flow.admin('POST', '/companies', { name })
      return () => flow.admin('POST', `/companies/${body.id}/users`, { email, role: 'viewer' })
    }
    try {
      const bob = await inviteTo('Acme', 'bob@shop.example')
      expect((await bob()).body.mailed, 'without a provider').to.equal(false)
      const paused = { type: 'smtp', config: { ...config, from: 'aside@shop.example' }, paused: true, position: 0 }
      expect((await flow.admin('PUT', aside, paused)).status).to.equal(201)
      expect((await flow.admin('PUT', provider, { type: 'smtp', config })).status).to.equal(201)
      for (const mailed of [true, true, true, false]) {
        const invited = await bob()
        expect([invited.status, invited.body.mailed]).to.deep.equal([201, mailed])
      }
      const ada = await inviteTo('Win at evil.example', 'ada@shop.example')
      expect((await ada()).body.mailed).to.equal(true)
      expect(mail.mails.map(({ to }) => to[0])).to.deep.equal([
        ...Array(3).fill('bob@shop.example'),
        'ada@shop.example',
      ])
      expect(mail.mails[0]?.bodies['text/plain']).to.include('the company "Acme"')
      expect(mail.mails[3]?.bodies['text/plain']).to.include('invited to a company').and.not.to.include('evil')
      mail.next({ at: 'rcpt', says: '550 5.1.1 no such mailbox' })
      expect((await (await inviteTo('Acme', 'eve@shop.example'))()).body.mailed, 'a refused mail').to.equal(false)
      expect(new Set(mail.mails.map(({ from }) => from)), 'never by a paused provider').to.deep.equal(
        new Set(['console@shop.example']),
      )
    } finally {
      await flow.admin('DELETE', `${provider}?confirm=true`)
      await flow.admin('DELETE', aside)
      await mail.close()
    }
  })

  it('sends the code by email once the console has a provider, at any price, and word of a new browser', async () => {
    const mail = await startMailServer()
    const { email, id } = await invite()
    const provider = `/apps/${CONSOLE_APP_ID}/providers/mail`
    const config = { host: '127.0.0.1', port: mail.port, from: 'Console <console@shop.example>' }
    const prices = [{ channel: 'email', country: '*', micros: 1_000 }]
    try {
      expect((await flow.admin('PUT', provider, { type: 'smtp', config })).status).to.equal(201)
      await flow.admin('PUT', '/prices', { prices })
      await flow.advance(CACHE_TTL_MS)
      expect((await enter({ email })).body.sent_by).to.equal('email')
      await flow.eventually(() => expect(mail.mails).to.have.length(1))
      expect(mail.mails[0]?.to).to.deep.equal([email])
      const code = codeIn(mail.mails[0]?.bodies['text/plain'])
      expect((await enter({ email, code: wrongCode(code) })).status).to.equal(401)
      const signedIn = await enter({ email, code })
      expect(signedIn.body.email).to.equal(email)
      await createBrowser(url(), signedIn).ask('POST', `/invitations/${id}/accept`)

      const signIn = async (from: Visitor, userAgent: string, mails: number) => {
        await from.enter({ email }, { 'User-Agent': userAgent })
        await flow.eventually(() => expect(mail.mails).to.have.length(mails))
        const sent = codeIn(mail.mails.at(-1)?.bodies['text/plain'])
        const { status } = await from.enter({ email, code: sent }, { 'User-Agent': userAgent })
        expect(status).to.equal(200)
      }
      const elsewhere = newBrowser()
      const signInElsewhere = (mails: number) => signIn(elsewhere, 'Firefox/140 Linux', mails)
      const words = (): number => flow.countersign.log.output().split('sign_in.mail_sent').length - 1
      await signInElsewhere(2)
      await flow.eventually(() => expect(mail.mails, 'word of the new browser').to.have.length(3))
      expect(mail.mails[2]?.to).to.deep.equal([email])
      expect(mail.mails[2]?.bodies['text/plain']).to.include('new browser: Firefox on Linux')
      await flow.advance(COOLDOWN_MS)
      await signInElsewhere(4)
      await flow.advance(COOLDOWN_MS)
      await signInElsewhere(5)
      await flow.advance(COOLDOWN_MS)
      await signIn(newBrowser(), 'Chrome/140 Windows', 6)
      await flow.eventually(() => expect(mail.mails).to.have.length(7))
      expect(mail.mails[6]?.bodies['text/plain']).to.include('new browser: Chrome on Windows')
      await flow.eventually(() => expect(words(), 'of a browser that is known there is none').to.equal(2))
      expect(flow.countersign.log.output()).to.include('sign_in.mail_sent').and.not.to.include(email)
      expect(await flow.inbox(email), 'nothing is in the sandbox').to.deep.equal([])
    } finally {
      await flow.admin('DELETE', `${provider}?confirm=true`)
      await flow.admin('PUT', '/prices', { prices: [] })
      await flow.advance(CACHE_TTL_MS)
      await mail.close()
    }
  })
})

onRealEngines('a dashboard that is a process of its own', { AMQP_URL, MONGODB_URL }, () => {
  it('signs its users in, and their sessions count in all processes', async () => {
    const flow = await startFlow({ engines: 'real' })
    const { site, url } = flow.countersign
    const env = { CHANNEL_BACKOFF: '200' }
    const alone = await startCountersign({ engines: 'real', site, roles: ['dashboard'], env })
    try {
      const email = 'ada@shop.example'
      const company = (await flow.admin('POST', '/companies', { name: 'Acme' })).body.id
      await flow.admin('POST', `/companies/${company}/users`, { email, role: 'owner', name: 'Ada' })
      const visitor = createVisitor(alone.url)
      expect((await visitor.enter({ email })).status).to.equal(200)
      const answer = await visitor.enter({ email, code: await flow.waitForCode(email) })
      expect(answer.status, answer.text).to.equal(200)
      const elsewhere = createBrowser(url, answer)
      expect((await elsewhere.ask('POST', '/sign-out')).status).to.equal(204)
      const here = createBrowser(alone.url, answer)
      expect((await here.ask('GET', '/me')).status).to.equal(401)
    } finally {
      await alone.stop()
      await flow.stop()
    }
  })
})

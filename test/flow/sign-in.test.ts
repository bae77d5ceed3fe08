// Users of the dashboard sign in with a code from Countersign itself: without an email provider it is in the sandbox's inbox, with one it
// comes by email.
import { expect } from 'chai'
import { CONSOLE_APP_ID } from '../../services/domain/tenancy/console.ts'
import { ask } from '../support/api-caller.ts'
import { type Browser, createBrowser, createVisitor, type Visitor } from '../support/dashboard-session.ts'
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
    const code = await flow.waitForCode(email)
    expect(code).to.match(/^\d{8}$/)
    const [message] = await flow.inbox(email)
    expect(message).to.include({ channel: 'email', recipient: email })
    expect(message?.text).to.include('Countersign console')
    expect((await enter({ email, code: ' - ' })).status).to.equal(422)
    const answer = await enter({ email, code: [...code].join(' ') })
    expect(answer.body).to.include({ id, name: 'Ada', email, role: null, company_id: null })

    const browser = createBrowser(url(), answer)
    expect((await browser.ask('GET', '/companies')).status).to.equal(403)
    const accepted = await browser.ask('POST', `/invitations/${id}/accept`)
    expect(accepted.body).to.include({ id, email, role: 'owner', company_id: company })
    await flow.advance(1)
    expect((await browser.ask('GET', `/apps/${CONSOLE_APP_ID}`)).status).to.equal(404)
    expect((await browser.ask('GET', '/sandbox/messages')).body, 'the codes of others').to.deep.equal([])
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
    const both = await Promise.all([enter({ email, code }), enter({ email, code })])
    expect(both.map(({ status }) => status).sort(), 'once').to.deep.equal([200, 401])
    expect((await enter({ email, code })).status).to.equal(401)
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

  it('mails an invitation once the console has a provider, three times to one address, and leaves links out', async () => {
    const mail = await startMailServer()
    const providers = `/apps/${CONSOLE_APP_ID}/providers`
    const [aside, provider] = [`${providers}/aside`, `${providers}/mail`]
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
      for (const mailed of [true, true, true, false]) expect((await bob()).body.mailed).to.equal(mailed)
      const ada = await inviteTo('Win at evil.example', 'ada@shop.example')
      expect((await ada()).body.mailed).to.equal(true)
      const to = [...Array(3).fill('bob@shop.example'), 'ada@shop.example']
      expect(mail.mails.map(one => one.to[0])).to.deep.equal(to)
      expect(mail.mails[0]?.bodies['text/plain']).to.include('the company "Acme"')
      expect(mail.mails[3]?.bodies['text/plain']).to.include('invited to a company').and.not.to.include('evil')
      mail.next({ at: 'rcpt', says: '550 5.1.1 no such mailbox' })
      expect((await (await inviteTo('Acme', 'eve@shop.example'))()).body.mailed, 'a refused mail').to.equal(false)
      const senders = new Set(mail.mails.map(({ from }) => from))
      expect([...senders], 'never by a paused provider').to.deep.equal(['console@shop.example'])
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

      const elsewhere = newBrowser()
      const signInElsewhere = async (mails: number) => {
        const userAgent = { 'User-Agent': 'Firefox/140 Linux' }
        await elsewhere.enter({ email }, userAgent)
        await flow.eventually(() => expect(mail.mails).to.have.length(mails))
        const sent = codeIn(mail.mails.at(-1)?.bodies['text/plain'])
        expect((await elsewhere.enter({ email, code: sent }, userAgent)).status).to.equal(200)
      }
      await signInElsewhere(2)
      await flow.eventually(() => expect(mail.mails, 'word of the new browser').to.have.length(3))
      expect(mail.mails[2]?.to).to.deep.equal([email])
      expect(mail.mails[2]?.bodies['text/plain']).to.include('new browser: Firefox on Linux')
      await flow.advance(COOLDOWN_MS)
      await signInElsewhere(4)
      await flow.advance(COOLDOWN_MS)
      expect(mail.mails, 'of a browser that is known there is none').to.have.length(4)
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

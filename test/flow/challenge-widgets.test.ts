// An app whose devices solve the widget of a vendor: the whole way over HTTP, with a vendor on this machine. What is told from the vendor's
// answers is in test/services/edge/challenge-tokens.test.ts.
import { expect } from 'chai'
import type { Answer } from '../support/api-caller.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const SECRET = '0x4AAAAAAA-the-secret-of-the-widget'
const SITE_KEY = '0x4AAAAAAA-site'

describe('the widget of a vendor as a challenge', () => {
  let flow: Flow
  let vendor: Receiver
  /** Tokens that the vendor has accepted: each is good once. */
  let used: Set<string>
  before(async () => {
    used = new Set()
    vendor = await startReceiver(({ body }, response) => {
      const form = new URLSearchParams(body.toString())
      const token = form.get('response') ?? ''
      const isGood = token.startsWith('good') && form.get('secret') === SECRET && !used.has(token)
      used.add(token)
      const answer = isGood
        ? { success: true, hostname: token.includes('elsewhere') ? 'evil.example' : 'shop.example' }
        : { success: false, 'error-codes': ['timeout-or-duplicate'] }
      response.end(JSON.stringify(answer))
    })
    flow = await startFlow({ engines: 'embedded', env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
  })
  after(async () => {
    await flow.stop()
    await vendor.close()
  })

  const widget = (more: object = {}) => ({
    by: 'turnstile',
    site_key: SITE_KEY,
    secret: SECRET,
    verify_url: `http://127.0.0.1:${vendor.port}/siteverify`,
    ...more,
  })
  const SETTINGS = { publishable_challenge: 'always', allowed_origins: ['https://shop.example'] }
  const challengeOf = ({ status, body, text }: Answer) => {
    expect(status, text).to.equal(403)
    expect(body.type).to.equal('ChallengeRequiredError')
    return body.challenge
  }

  it('is asked for by its site key, and its token lets one call through', async () => {
    const { device, server } = await flow.createTenant({ ...SETTINGS, challenge: widget() })
    const to = freshNumber()
    const asked = { type: 'turnstile', site_key: SITE_KEY }
    expect(challengeOf(await device.send(to))).to.deep.equal(asked)
    expect((await device.send(to, { solution: 'good-1' })).status).to.equal(200)
    expect(Object.fromEntries(new URLSearchParams(vendor.received.at(-1)?.body.toString()))).to.deep.equal({
      secret: SECRET,
      response: 'good-1',
      sitekey: SITE_KEY,
    })
    for (const solution of ['good-1', 'made-up', 'good-elsewhere'])
      expect(challengeOf(await device.send(to, { solution })), solution).to.deep.equal(asked)
    const before = vendor.received.length
    expect((await server.send(freshNumber(), { solution: 'anything' })).status, 'a server').to.equal(200)
    expect(vendor.received).to.have.length(before)
  })

  it('keeps its secret sealed: answers, the audit log and the store show a fingerprint, which stands for it', async () => {
    const { app, device } = await flow.createTenant({ ...SETTINGS, challenge: widget() })
    const shown = (await flow.admin('GET', `/apps/${app}`)).body.settings.challenge
    expect(shown).to.deep.include({ by: 'turnstile', site_key: SITE_KEY })
    expect(shown.secret).to.match(/^hmac:[\w-]{8}$/)
    await flow.changeSettings(app, { challenge: { ...shown, site_key: 'another' } })
    expect(challengeOf(await device.send(freshNumber())).site_key).to.equal('another')
    expect((await device.send(freshNumber(), { solution: 'good-2' })).status, 'the secret has stayed').to.equal(200)
    const audited = (await flow.admin('GET', `/audit?limit=100`)).text
    const stored = await flow.countersign.engines.store.docs('apps').get([app])
    const lines = flow.countersign.log.output()
    for (const text of [audited, JSON.stringify([...stored.values()]), lines]) expect(text).to.not.include(SECRET)

    const elsewhere = { verify_url: `http://127.0.0.1:${vendor.port}/another` }
    const moved = await flow.admin('PATCH', `/apps/${app}`, { settings: { challenge: elsewhere } })
    expect([moved.status, moved.body.errors?.[0]?.path]).to.deep.equal([422, 'settings.challenge.secret'])
    await flow.changeSettings(app, { challenge: { by: 'pow' } })
    const settings = { challenge: { by: 'hcaptcha', ...elsewhere } }
    expect((await flow.admin('PATCH', `/apps/${app}`, { settings })).status, 'nor by a detour').to.equal(422)
    await flow.changeSettings(app, { challenge: null })
    expect((await flow.countersign.engines.store.docs('apps').get([app])).get(app)?.challenge_secret).to.equal(null)
  })

  it('is refused with what it lacks, and changes nothing', async () => {
    const { app } = await flow.createTenant()
    const challengeNow = async () => (await flow.admin('GET', `/apps/${app}`)).body.settings.challenge
    const before = await challengeNow()
    const allowed_origins = ['https://shop.example']
    const refused: [settings: object, ...paths: string[]][] = [
      [{ challenge: { by: 'turnstile' } }, 'challenge.site_key', 'challenge.secret', 'allowed_origins'],
      [{ allowed_origins, challenge: widget({ site_key: 'two words' }) }, 'challenge.site_key'],
      [{ allowed_origins, challenge: widget({ secret: 'short' }) }, 'challenge.secret'],
      [{ allowed_origins, challenge: widget({ secret: 'hmac:AAAAAAAA' }) }, 'challenge.secret'],
      [{ allowed_origins, challenge: widget({ by: 'recaptcha' }) }, 'challenge.by'],
    ]
    for (const verify_url of ['ftp://vendor.example', 'https://user:word@vendor.example/', 'http://192.168.0.7/verify'])
      refused.push([{ allowed_origins, challenge: widget({ verify_url }) }, 'challenge.verify_url'])
    for (const [settings, ...paths] of refused) {
      const { status, body } = await flow.admin('PATCH', `/apps/${app}`, { settings })
      expect(status, JSON.stringify(settings)).to.equal(422)
      expect(body.errors.map(({ path }: { path: string }) => path.replace(/^settings\./, ''))).to.have.members(paths)
    }
    expect(await challengeNow()).to.deep.equal(before)
  })
})

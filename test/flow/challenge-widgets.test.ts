// An app whose devices solve the widget of a vendor: the whole way over HTTP, with a vendor on this machine. What is told from the vendor's
// answers is in test/services/edge/challenge-tokens.test.ts.
import { expect } from 'chai'
import type { Answer } from '../support/api-caller.ts'
import { solutionOf } from '../support/challenges.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const SECRET = '0x4AAAAAAA-the-secret-of-the-widget'
const SITE_KEY = '0x4AAAAAAA-site'

describe('the widget of a vendor as a challenge', () => {
  let flow: Flow
  let vendor: Receiver
  /** Tokens that the vendor has accepted: each is good once. */
  let used: Set<string>
  beforeEach(async () => {
    used = new Set()
    vendor = await startReceiver(({ body }, response) => {
      const form = new URLSearchParams(body.toString())
      const token = form.get('response') ?? ''
      if (token.startsWith('silent')) return
      const isGood = token.startsWith('good') && form.get('secret') === SECRET && !used.has(token)
      used.add(token)
      const answer = isGood
        ? { success: true, hostname: token.includes('elsewhere') ? 'evil.example' : 'shop.example' }
        : { success: false, 'error-codes': ['timeout-or-duplicate'] }
      response.end(JSON.stringify(answer))
    })
    flow = await startFlow({ engines: 'embedded', env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
  })
  afterEach(async () => {
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
    expect(vendor.received, 'nothing to check yet').to.have.length(0)
    expect((await device.send(to, { solution: 'good-1' })).status).to.equal(200)
    expect(Object.fromEntries(new URLSearchParams(vendor.received[0]?.body.toString()))).to.deep.equal({
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

  it('gives way to a proof of work where the vendor is silent, and to nothing else', async () => {
    const { device } = await flow.createTenant({ ...SETTINGS, challenge: widget({ by: 'hcaptcha' }) })
    const to = freshNumber()
    const silent = await flow.advanceUntil(device.send(to, { solution: 'silent-1' }))
    expect(challengeOf(silent)).to.include({ type: 'pow', difficulty: 16 })
    expect((await device.send(to, { solution: solutionOf(silent) })).status).to.equal(200)
    expect(challengeOf(await device.send(to, { solution: solutionOf(silent) })), 'used').to.include({
      type: 'hcaptcha',
    })
  })

  it('keeps its secret sealed: answers, the audit log and the store show a fingerprint, which stands for it', async () => {
    const { app, device } = await flow.createTenant({ ...SETTINGS, challenge: widget() })
    const shown = (await flow.admin('GET', `/apps/${app}`)).body.settings.challenge
    expect(shown).to.deep.include({ by: 'turnstile', site_key: SITE_KEY })
    expect(shown.secret).to.match(/^hmac:[\w-]{8}$/)
    await flow.changeSettings(app, { challenge: { ...shown, site_key: 'another' } })
    expect(challengeOf(await device.send(freshNumber())).site_key).to.equal('another')
    expect((await device.send(freshNumber(), { solution: 'good-1' })).status, 'the secret has stayed').to.equal(200)
    const audited = (await flow.admin('GET', `/audit?limit=100`)).text
    const stored = await flow.countersign.engines.store.docs('apps').get([app])
    const lines = flow.countersign.log.output()
    for (const text of [audited, JSON.stringify([...stored.values()]), lines]) expect(text).to.not.include(SECRET)

    const elsewhere = { challenge: { verify_url: `http://127.0.0.1:${vendor.port}/another` } }
    const moved = await flow.admin('PATCH', `/apps/${app}`, { settings: elsewhere })
    expect([moved.status, moved.body.errors?.[0]?.path]).to.deep.equal([422, 'settings.challenge.secret'])
    await flow.changeSettings(app, { challenge: { by: 'pow' } })
    const back = await flow.admin('PATCH', `/apps/${app}`, {
      settings: { challenge: { by: 'hcaptcha', ...elsewhere.challenge } },
    })
    expect(back.status, 'nor by a detour').to.equal(422)
    await flow.changeSettings(app, { challenge: null })
    expect((await flow.admin('GET', `/apps/${app}`)).body.settings.challenge).to.deep.include({
      by: 'pow',
      secret: null,
    })
    expect((await flow.countersign.engines.store.docs('apps').get([app])).get(app)?.challenge_secret).to.equal(null)
  })

  it('is refused with what it lacks, and changes nothing', async () => {
    const { app } = await flow.createTenant()
    const refused = async (settings: object): Promise<string[]> => {
      const { status, body, text } = await flow.admin('PATCH', `/apps/${app}`, { settings })
      expect(status, text).to.equal(422)
      return body.errors.map(({ path }: { path: string }) => path.replace(/^settings\./, ''))
    }
    const origins = { allowed_origins: ['https://shop.example'] }
    expect(await refused({ challenge: { by: 'turnstile' } })).to.have.members([
      'challenge.site_key',
      'challenge.secret',
      'allowed_origins',
    ])
    expect(await refused({ ...origins, challenge: widget({ site_key: 'two words' }) })).to.deep.equal([
      'challenge.site_key',
    ])
    expect(await refused({ ...origins, challenge: widget({ secret: 'short' }) })).to.deep.equal(['challenge.secret'])
    expect(await refused({ ...origins, challenge: widget({ secret: 'hmac:AAAAAAAA' }) })).to.deep.equal([
      'challenge.secret',
    ])
    for (const verify_url of ['ftp://vendor.example', 'https://user:word@vendor.example/', 'http://192.168.0.7/verify'])
      expect(await refused({ ...origins, challenge: widget({ verify_url }) }), verify_url).to.deep.equal([
        'challenge.verify_url',
      ])
    expect(await refused({ ...origins, challenge: widget({ by: 'recaptcha' }) })).to.deep.equal(['challenge.by'])
    expect((await flow.admin('GET', `/apps/${app}`)).body.settings.challenge).to.deep.equal({
      by: 'pow',
      site_key: null,
      secret: null,
      verify_url: null,
    })
  })
})

// What a vendor's answer says of a token, over real calls to a vendor on this machine.
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { challengeSecretContext } from '../../../services/domain/tenancy/documents.ts'
import { resolveSettings } from '../../../services/domain/tenancy/settings.ts'
import { createCheckToken } from '../../../services/edge/challenge-tokens.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { useOutbound } from '../../support/outbound.ts'
import type { AnswerRequest } from '../../support/receiver.ts'
import { testKeyring } from '../../support/tenancy.ts'

const SECRET = 'the-secret-key'

describe('the check of a token with its vendor', () => {
  const { outbound, receiver } = useOutbound()
  const keyring = testKeyring()

  async function setUp(
    answer: AnswerRequest,
    { path = '/siteverify', targets }: { path?: string; targets?: string[] } = {},
  ) {
    const vendor = await receiver(answer)
    const { log, lines } = createCapturedLog()
    const clock = testClock()
    const sealed_challenge_secret = keyring.seal(SECRET, challengeSecretContext('app_1'))
    const settings = resolveSettings({
      allowed_origins: ['https://shop.example', 'https://pay.shop.example:8443'],
      challenge: {
        by: 'turnstile',
        site_key: 'site',
        secret: 'hmac:AAAAAAAA',
        verify_url: `http://127.0.0.1:${vendor.port}${path}`,
      },
    })
    const app = { id: 'app_1', company_id: 'cmp_1', name: 'Shop', settings, sealed_challenge_secret }
    const options = targets === undefined ? {} : { privateTargets: targets }
    const checkToken = createCheckToken({ outbound: outbound(options), keyring, clock, log })
    const check = (token = 'token', address: string | null = null) => checkToken(app, 'turnstile', token, address)
    return { app, check, checkToken, clock, lines, vendor }
  }
  const json =
    (body: unknown, status = 200): AnswerRequest =>
    (_, response: ServerResponse) => {
      response.statusCode = status
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
  const outcomeOf = async (body: unknown, status = 200): Promise<string> =>
    (await (await setUp(json(body, status))).check()).outcome

  it('accepts it only on the host of a listed origin', async () => {
    expect(await outcomeOf({ success: true, hostname: 'shop.example' })).to.equal('passed')
    expect(await outcomeOf({ success: true, hostname: 'pay.shop.example' })).to.equal('passed')
    for (const hostname of ['evil.example', 'shop.example.evil.example', 'a.shop.example', '', 7, undefined])
      expect(await outcomeOf({ success: true, hostname }), String(hostname)).to.equal('other_host')
  })

  it('refuses it where the vendor does', async () => {
    for (const code of ['invalid-input-response', 'timeout-or-duplicate', 'already-seen-response'])
      expect(await outcomeOf({ success: false, 'error-codes': [code] }), code).to.equal('refused')
    expect(await outcomeOf({ success: false })).to.equal('refused')
    expect(await outcomeOf({ success: false, 'error-codes': ['invalid-input-response'] }, 400)).to.equal('refused')
  })

  it('says nothing of it where the vendor does not, or refuses the app itself', async () => {
    const silent: [unknown, number][] = [
      ['<html>', 200],
      ['', 200],
      [{ success: 'true', hostname: 'shop.example' }, 200],
      [[], 200],
      [{ success: false }, 503],
      [{ success: false, 'error-codes': ['internal-error'] }, 200],
      [{ success: false, 'error-codes': ['invalid-input-secret'] }, 200],
      [{ success: false, 'error-codes': ['sitekey-secret-mismatch'] }, 200],
    ]
    for (const [body, status] of silent)
      expect(await outcomeOf(body, status), JSON.stringify(body)).to.equal('unchecked')
    const { check, lines } = await setUp(json({ success: false, 'error-codes': ['invalid-input-secret'] }))
    await check()
    const [line] = lines()
    expect(line).to.include({ msg: 'challenge.unchecked', app_id: 'app_1', vendor: 'turnstile' })
    expect(line?.why).to.include('invalid-input-secret')
    expect(JSON.stringify(line)).to.not.include(SECRET)
  })

  it('waits three seconds', async () => {
    const { check, clock, vendor } = await setUp(() => {})
    let outcome = ''
    const checked = check().then(token => {
      outcome = token.outcome
    })
    await eventually(() => expect(vendor.received).to.have.length(1))
    await clock.advance(2_999)
    expect(outcome).to.equal('')
    await clock.advance(1)
    await checked
    expect(outcome).to.equal('unchecked')
  })

  it('asks no address that the outbound guard forbids, and needs the secret', async () => {
    const { check, vendor } = await setUp(json({ success: true, hostname: 'shop.example' }), { targets: [] })
    expect((await check()).outcome).to.equal('unchecked')
    expect(vendor.received).to.have.length(0)
    const { app, checkToken } = await setUp(json({ success: true, hostname: 'shop.example' }))
    const without = { ...app, sealed_challenge_secret: null }
    expect((await checkToken(without, 'turnstile', 'token', null)).outcome).to.equal('unchecked')
  })

  it('makes fifty calls at once, so that made-up tokens are no flood to the vendor', async () => {
    const { check, clock, vendor } = await setUp(() => {})
    const checks = Array.from({ length: 60 }, (_, nth) => check(`token ${nth}`))
    const rest = await Promise.all(checks.slice(50))
    expect(new Set(rest.map(({ outcome }) => outcome))).to.deep.equal(new Set(['unchecked']))
    await eventually(() => expect(vendor.received).to.have.length(50))
    await clock.advance(3_000)
    const ids = (await Promise.all(checks)).map(({ id }) => id)
    expect(new Set(ids)).to.have.length(60)
  })

  it('makes twelve of them for one network, which cannot crowd the others out into a proof of work', async () => {
    const { check, clock, vendor } = await setUp(() => {})
    const floods = ['2a0e:97c0:1:2::1', '2a0e:97c0:1:2:ffff::1'].flatMap(address =>
      Array.from({ length: 30 }, (_, nth) => check(`made up ${address} ${nth}`, address)),
    )
    const refused = await Promise.all(floods.slice(12))
    expect(new Set(refused.map(({ outcome }) => outcome))).to.deep.equal(new Set(['refused']))
    const other = check('good', '81.2.69.142')
    await eventually(() => expect(vendor.received).to.have.length(13))
    await clock.advance(3_000)
    await Promise.all([...floods, other])
    const again = check('once more', '2a0e:97c0:1:2::1')
    await eventually(() => expect(vendor.received, 'the places are free again').to.have.length(14))
    await clock.advance(3_000)
    expect((await again).outcome).to.equal('unchecked')
  })
})

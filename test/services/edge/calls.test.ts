// The calls of the edge to the OTP actor, as they go through the broker.
import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { Unsealable } from '../../../infra/crypto/keyring.ts'
import { encodeLengthPrefixed } from '../../../infra/crypto/length-prefix.ts'
import type { CallOf, OtpCall } from '../../../machines/calls.ts'
import { MAX_TOKEN_LENGTH } from '../../../machines/challenge.ts'
import { idempotencyKeyContext, inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { idempotencyIndexes } from '../../../services/domain/verifications/lookup-indexes.ts'
import { claimOf } from '../../../services/edge/calls.ts'
import { KEYS, OTP_ID, problemOf, startTestEdge, type TestEdge } from '../../support/edge.ts'
import { testKeyring } from '../../support/tenancy.ts'

const RECIPIENT = '+447911123456'

describe('a call to the OTP actor', () => {
  let edge: TestEdge
  beforeEach(async () => {
    edge = await startTestEdge()
  })
  afterEach(() => edge.close())

  const lastCall = <T extends OtpCall['type']>(type: T) => {
    const call = edge.calls.at(-1)?.call
    expect(call?.type).to.equal(type)
    return call as CallOf<T>
  }
  const unseal = (sealed: string | null | undefined, context: string) =>
    typeof sealed === 'string' ? edge.keyring.unseal(sealed, context) : sealed

  const sendAndRead = async (body: object, options = {}) => {
    await edge.post('/otp/send', { recipient: RECIPIENT, ...body }, options)
    return lastCall('otp.send')
  }

  it('goes to otp.calls, with a budget and an id of its own', async () => {
    await sendAndRead({})
    await sendAndRead({})
    const [first, second] = edge.calls
    expect(first).to.include({ queue: 'otp.calls', budgetMs: 5_000 })
    expect(first?.id).to.be.a('string').with.length.above(20)
    expect(first?.id).not.to.equal(second?.id)
  })

  it('holds nothing secret or personal unsealed', async () => {
    await sendAndRead({ client_ip: '203.0.113.7' }, { headers: { 'Idempotency-Key': 'order-4711' } })
    await edge.post('/otp/verify', { otp_id: OTP_ID, code: '482913' })
    await edge.post('/verifications/exchange', { verification_token: 'otp_vt_something-secret' })
    const readable = JSON.stringify(edge.calls) + edge.captured.output()
    for (const secret of ['7911123456', '203.0.113.7', 'order-4711', '482913', 'something-secret', KEYS.serverTest])
      expect(readable).not.to.contain(secret)
  })

  it('of a send seals the recipient and the address, which is not that of the backend', async () => {
    const call = await sendAndRead({ client_ip: '203.0.113.7' })
    expect(unseal(call.sealed_recipient, inFlight.recipient)).to.equal(RECIPIENT)
    // An address for documentation is reserved, so it counts as absent.
    expect(call.sealed_client_ip).to.equal(null)
    expect(unseal((await sendAndRead({ client_ip: '8.8.8.8' })).sealed_client_ip, inFlight.clientIp)).to.equal(
      '8.8.8.8',
    )
    expect((await sendAndRead({}, { headers: { 'X-Forwarded-For': '8.8.8.8' } })).sealed_client_ip).to.equal(null)
  })

  it('for an address that is none of a user says so, and for no address nothing', async () => {
    const noticeOf = async (more: object, path = '/otp/send') =>
      (await edge.post(path, { recipient: RECIPIENT, ...more })).headers.get('countersign-notice')
    expect(await noticeOf({ client_ip: '10.1.2.3' })).to.equal('client_ip_not_public')
    expect(await noticeOf({ client_ip: '10.1.2.3', code: '123456' }, '/messages')).to.equal('client_ip_not_public')
    expect([await noticeOf({}), await noticeOf({ client_ip: '8.8.8.8' })]).to.deep.equal([null, null])
  })

  const locales: [unknown, string | null][] = [
    ['pt-br', 'pt-BR'],
    ['not a locale', null],
    [undefined, null],
    [`en-x-${'a'.repeat(8)}`.padEnd(70, '-bbbbbbbb'), null],
  ]
  for (const [given, tag] of locales)
    it(`of a send in ${JSON.stringify(given)?.slice(0, 30)} holds ${tag ?? 'no locale'}`, async () => {
      expect((await sendAndRead({ locale: given })).locale).to.equal(tag)
    })

  it('of a send holds an invalid recipient as it is, cut to a length at which none is valid', async () => {
    expect(unseal((await sendAndRead({ recipient: 'nobody' })).sealed_recipient, inFlight.recipient)).to.equal('nobody')
    const long = unseal(
      (await sendAndRead({ recipient: `${'a'.repeat(2_000)}@b.test` })).sealed_recipient,
      inFlight.recipient,
    )
    expect(long).to.equal('a'.repeat(1_000))
  })

  it('holds the solution of a challenge of a publishable key, unless it is too long to be one', async () => {
    const device = { key: KEYS.deviceTest, headers: { 'Challenge-Solution': 's.1.t' } }
    expect((await sendAndRead({}, device)).challenge_solution).to.equal('s.1.t')
    await edge.post('/otp/resend', { otp_id: OTP_ID }, device)
    expect(lastCall('otp.resend').challenge_solution).to.equal('s.1.t')
    const absent = [
      { key: KEYS.deviceTest },
      { key: KEYS.deviceTest, headers: { 'Challenge-Solution': 's'.repeat(MAX_TOKEN_LENGTH + 1) } },
      { key: KEYS.serverTest, headers: device.headers },
    ]
    for (const options of absent) expect(await sendAndRead({}, options)).not.to.have.property('challenge_solution')
  })

  describe('with an idempotency key holds a claim', () => {
    const claim = async (key: string, apiKey = KEYS.serverTest) =>
      (await sendAndRead({}, { key: apiKey, headers: { 'Idempotency-Key': key } })).claim?.ids ?? null

    it('by indexes that need the data key, and holds the key itself sealed for its owner only', async () => {
      const guessable = 'sign up +447911123456'
      const { claim } = await sendAndRead({}, { headers: { 'Idempotency-Key': guessable } })
      const hash = createHash('sha256').update(encodeLengthPrefixed(['cmp_acme', 'test', 'server', guessable]))
      expect(JSON.stringify(edge.calls)).to.not.include(guessable).and.not.to.include(hash.digest('base64url'))
      const owner = { company_id: 'cmp_acme', mode: 'test', kind: 'server' } as const
      expect(unseal(claim?.sealed_key ?? '', idempotencyKeyContext(owner))).to.equal(guessable)
      const others = [
        { ...owner, mode: 'live' as const },
        { ...owner, company_id: 'cmp_b' },
      ]
      for (const other of others)
        expect(() => unseal(claim?.sealed_key ?? '', idempotencyKeyContext(other))).to.throw(Unsealable)
    })

    it('by one index for each data key, in an order that does not depend on which one is current', () => {
      const by = { company_id: 'cmp_acme', app_id: 'app_1', mode: 'test', key_id: 'key_1', kind: 'server' } as const
      const [one, other] = [claimOf(testKeyring(1, 2), by, 'k-1'), claimOf(testKeyring(2, 1), by, 'k-1')]
      expect(one?.ids).to.have.length(2).and.to.deep.equal(other?.ids)
      for (const keyring of [testKeyring(1), testKeyring(2)])
        expect(one?.ids).to.include(claimOf(keyring, by, 'k-1')?.ids[0])
    })

    it('that is the same only for the same company, mode, kind of API key and key, in every app of the company', async () => {
      const owner = { company_id: 'cmp_acme', mode: 'test', kind: 'server' } as const
      expect(await claim('k-1')).to.deep.equal(idempotencyIndexes(edge.keyring, owner, 'k-1'))
      edge.stubs.settings.publishable_send = true
      // One after the other: `claim` reads the latest call.
      const claims = [
        await claim('k-1'),
        await claim('k-2'),
        await claim('K-1'),
        await claim('k-1 ,'),
        await claim('k-1', KEYS.serverLive),
        await claim('k-1', KEYS.deviceTest),
        await claim('k-1', KEYS.deviceLive),
      ]
      expect(new Set(claims.map(String)).size).to.equal(claims.length)
      const before = await claim('k-1')
      for (const key of edge.keys.values()) key.app_id = 'app_other'
      await edge.clock.advance(5_000)
      expect(await claim('k-1')).to.deep.equal(before)
    })

    it('and none without a key', async () => {
      expect((await sendAndRead({})).claim).to.equal(null)
      expect(await claim('')).to.equal(null)
      expect(await claim('  ')).to.equal(null)
    })

    it('if the key has at most 128 characters', async () => {
      expect(await claim('k'.repeat(128))).to.have.length(1)
      edge.calls.length = 0
      const headers = { 'Idempotency-Key': 'k'.repeat(129) }
      const response = await edge.post('/otp/send', { recipient: RECIPIENT }, { headers })
      expect(response.status).to.equal(422)
      expect((await problemOf(response)).type).to.equal('InvalidIdempotencyKeyError')
      expect(edge.calls).to.deep.equal([])
    })

    it('and is refused for its body and its recipient first', async () => {
      const headers = { 'Idempotency-Key': 'k'.repeat(129) }
      expect((await problemOf(await edge.post('/otp/send', {}, { headers }))).type).to.equal('ValidationError')
      const lying = { recipient: RECIPIENT, client_ip: '8.8.8.8' }
      const device = await edge.post('/otp/send', lying, { headers, key: KEYS.deviceTest })
      expect((await problemOf(device)).type).to.equal('ValidationError')
      for (const [path, more] of [
        ['/otp/send', {}],
        ['/messages', { code: '123456' }],
      ] as const) {
        const invalid = await edge.post(path, { recipient: '5551234567', ...more }, { headers })
        expect(invalid.status).to.equal(422)
        expect(await problemOf(invalid)).to.deep.include({
          type: 'InvalidRecipientError',
          detail:
            'It must be a valid E.164 phone number or email address. It has no plus: a number begins with + and the code of its country.',
        })
      }
    })

    it('on send alone', async () => {
      const headers = { 'Idempotency-Key': 'k'.repeat(500) }
      expect((await edge.post('/otp/resend', { otp_id: OTP_ID }, { headers })).status).to.equal(200)
    })
  })
})

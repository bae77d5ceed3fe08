// Publishable keys are used on devices, which can lie: what they may send, from which pages, and what they may not do.
import { expect } from 'chai'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { type EdgeOptions, KEYS, OTP_ID, problemOf, startTestEdge, type TestEdge } from '../../support/edge.ts'

const SEND = { recipient: '+447911123456' }
const SHOP = 'https://shop.example'

describe('a publishable key', () => {
  let edge: TestEdge
  const startEdge = async (options: EdgeOptions = {}) => {
    edge = await startTestEdge(options)
  }
  afterEach(() => edge.close())

  const send = (options: { key?: string; headers?: Record<string, string>; body?: object } = {}) =>
    edge.post('/otp/send', options.body ?? SEND, { key: KEYS.deviceTest, ...options })

  it('sends with the address of its connection, through trusted proxies only', async () => {
    const addressFor = async (trustedProxies: string[]) => {
      await startEdge({ trustedProxies })
      await send({ headers: { 'X-Forwarded-For': '1.1.1.1, 8.8.8.8' } })
      const call = edge.calls[0]?.call
      const sealed = call?.type === 'otp.send' ? call.sealed_client_ip : undefined
      const address = typeof sealed === 'string' ? edge.keyring.unseal(sealed, inFlight.clientIp) : sealed
      if (trustedProxies.length > 0) await edge.close()
      return address
    }
    expect(await addressFor(['127.0.0.1/32'])).to.equal('8.8.8.8')
    expect(await addressFor([])).to.equal(null)
  })

  describe('in live mode', () => {
    it('may send only if the app allows it', async () => {
      await startEdge()
      const refused = await send({ key: KEYS.deviceLive })
      expect(refused.status).to.equal(403)
      expect((await problemOf(refused)).type).to.equal('PublishableSendDisabledError')
      expect(edge.calls).to.deep.equal([])

      edge.stubs.settings.publishable_send = true
      await edge.clock.advance(5_000)
      expect((await send({ key: KEYS.deviceLive })).status).to.equal(200)

      edge.stubs.settings.publishable_send = false
      await edge.clock.advance(5_000)
      expect((await send({ key: KEYS.serverLive })).status, 'a server key').to.equal(200)
    })

    it('is refused before its body is read', async () => {
      await startEdge()
      expect((await send({ key: KEYS.deviceLive, body: {} })).status).to.equal(403)
    })

    it('may still verify and look up', async () => {
      await startEdge()
      const guess = { otp_id: OTP_ID, code: '123456' }
      expect((await edge.post('/otp/verify', guess, { key: KEYS.deviceLive })).status).to.equal(200)
      expect((await edge.get(`/otp/${OTP_ID}`, { key: KEYS.deviceLive })).status).to.equal(404)
    })
  })

  describe('of an app that lists origins', () => {
    beforeEach(() => startEdge({ settings: { allowed_origins: [SHOP, 'https://m.shop.example:8443'] } }))

    const callAllPaths = (origin: string | null, key = KEYS.deviceTest) => {
      const options = { key, headers: origin === null ? {} : { Origin: origin } }
      return Promise.all([
        edge.post('/otp/send', SEND, options),
        edge.post('/otp/resend', { otp_id: OTP_ID }, options),
        edge.get(`/otp/${OTP_ID}`, options),
      ])
    }

    for (const origin of [SHOP, 'https://m.shop.example:8443', null])
      it(`may be used ${origin === null ? 'without an origin' : `from ${origin}`}`, async () => {
        const statuses = (await callAllPaths(origin)).map(response => response.status)
        expect(statuses).to.deep.equal([200, 200, 404])
      })

    for (const origin of [
      'https://evil.example',
      'http://shop.example',
      'https://sub.shop.example',
      'https://shop.example.evil.example',
      'null',
    ])
      it(`may not be used from ${origin}, and the page can read why`, async () => {
        for (const response of await callAllPaths(origin)) {
          expect(response.status).to.equal(403)
          expect(response.headers.get('access-control-allow-origin')).to.equal(origin)
          expect(response.headers.get('vary')).to.contain('Origin')
          expect((await problemOf(response)).type).to.equal('OriginNotAllowedError')
        }
        expect(edge.calls).to.deep.equal([])
      })

    it('gives a page that is not listed no other answer to read', async () => {
      const headers = { Origin: 'https://evil.example' }
      const device = { key: KEYS.deviceTest, headers }
      const refused = [
        await edge.post('/otp/send', {}, device),
        await edge.post('/otp/send', 'no JSON', device),
        await edge.post('/otp/verify', { otp_id: OTP_ID, code: '123456' }, device),
        await edge.get('/otp/otp_none', device),
      ]
      for (const response of refused) expect((await problemOf(response)).type).to.equal('OriginNotAllowedError')
      const others = [
        ...(await callAllPaths('https://evil.example', KEYS.serverTest)),
        await edge.post('/otp/cancel', { otp_id: OTP_ID }, device),
        await edge.post('/verifications/exchange', {}, { key: KEYS.serverTest, headers }),
        await edge.request('/docs', { headers }),
        await edge.request('/api/v1/nowhere', { headers }),
      ]
      expect(
        others.slice(0, 3).map(({ status }) => status),
        'a server key is not restricted',
      ).to.deep.equal([200, 200, 404])
      for (const response of others)
        expect(
          [...response.headers.keys()].filter(name => name.startsWith('access-control')),
          response.url,
        ).to.deep.equal([])
    })
  })
})

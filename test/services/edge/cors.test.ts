// CORS: which paths a page of another origin may call, and which answers it may read.
import { expect } from 'chai'
import { KEYS, OTP_ID, startTestEdge, type TestEdge } from '../../support/edge.ts'

const ORIGIN = 'https://shop.example'
const SEND = { recipient: '+447911123456' }

describe('a page on another origin', () => {
  let edge: TestEdge
  before(async () => {
    edge = await startTestEdge()
  })
  after(() => edge.close())

  const preflight = (path: string, headers: Record<string, string> = { Origin: ORIGIN }) =>
    edge.request(`/api/v1${path}`, { method: 'OPTIONS', headers })

  const allowed: [string, string][] = [
    ['/otp/send', 'POST'],
    ['/otp/resend', 'POST'],
    ['/otp/verify', 'POST'],
    [`/otp/${OTP_ID}`, 'GET'],
  ]
  for (const [path, method] of allowed)
    it(`gets a preflight for ${method} ${path} allowed, without a key`, async () => {
      const response = await preflight(path, { Origin: ORIGIN, 'Access-Control-Request-Method': method })
      expect(response.status).to.equal(204)
      expect(Object.fromEntries(response.headers)).to.include({
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-methods': method,
        'access-control-allow-headers':
          'authorization, challenge-solution, content-type, idempotency-key, x-request-id',
        'access-control-max-age': '7200',
        vary: 'Origin',
      })
      expect(response.headers.has('access-control-allow-credentials')).to.equal(false)
      expect(response.headers.get('x-request-id')).to.be.a('string')
    })

  it('gets no CORS headers for OPTIONS without an origin', async () => {
    const response = await preflight('/otp/send', {})
    expect(response.status).to.equal(204)
    expect(response.headers.get('allow')).to.equal('OPTIONS, POST')
    expect([...response.headers.keys()].filter(name => name.startsWith('access-control'))).to.deep.equal([])
  })

  for (const path of ['/otp/cancel', '/verifications/exchange'])
    it(`gets no preflight allowed for ${path}, which accepts server keys only`, async () => {
      const response = await preflight(path)
      expect(response.status).to.equal(405)
      expect(response.headers.has('access-control-allow-origin')).to.equal(false)
    })

  const allowedOrigin = (response: Response) => response.headers.get('access-control-allow-origin')

  it('may read answers to a publishable key', async () => {
    const response = await edge.post('/otp/send', SEND, { key: KEYS.deviceTest, headers: { Origin: ORIGIN } })
    expect(response.status).to.equal(200)
    expect(allowedOrigin(response)).to.equal(ORIGIN)
    expect(response.headers.get('access-control-expose-headers')).to.equal(
      'Idempotent-Replayed, Retry-After, X-Request-Id',
    )
    expect(response.headers.get('vary')).to.equal('Origin')
  })

  it('may read refusals of the body, the verification and the key', async () => {
    const headers = { Origin: ORIGIN }
    const device = { key: KEYS.deviceTest, headers }
    expect(allowedOrigin(await edge.post('/otp/send', {}, device))).to.equal(ORIGIN)
    expect(allowedOrigin(await edge.get('/otp/otp_none', device))).to.equal(ORIGIN)
    expect(allowedOrigin(await edge.post('/otp/send', SEND, { key: 'pk_test_unknown', headers }))).to.equal(ORIGIN)
  })

  it('may not read answers to a server key', async () => {
    const response = await edge.post('/otp/send', SEND, { key: KEYS.serverTest, headers: { Origin: ORIGIN } })
    expect(response.status).to.equal(200)
    expect(allowedOrigin(response)).to.equal(null)
    expect(response.headers.get('vary')).to.equal('Origin')
  })
})

// The paths of the API, and the answers at other paths: always a problem with a request id.
import { expect } from 'chai'
import { OTP_ID, problemOf, startTestEdge, type TestEdge } from '../../support/edge.ts'

describe('a path of the API', () => {
  let edge: TestEdge
  before(async () => {
    edge = await startTestEdge()
  })
  after(() => edge.close())

  for (const path of ['/', '/otp', '/otp/send/now', '/otps/send', '/verifications', '/verifications/exchange/x'])
    it(`is 404 if it is ${path}`, async () => {
      const response = await edge.request(`/api/v1${path}`, { method: 'POST' })
      expect(response.status).to.equal(404)
      expect((await problemOf(response)).type).to.equal('HTTPException')
    })

  const wrongMethods: [string, string, string][] = [
    ['GET', '/otp/send', 'OPTIONS, POST'],
    ['DELETE', '/otp/send', 'OPTIONS, POST'],
    ['PUT', '/otp/resend', 'OPTIONS, POST'],
    ['GET', '/otp/verify', 'OPTIONS, POST'],
    ['PATCH', '/otp/cancel', 'POST'],
    ['GET', '/otp/cancel', 'POST'],
    ['OPTIONS', '/otp/cancel', 'POST'],
    ['GET', '/verifications/exchange', 'POST'],
    ['POST', `/otp/${OTP_ID}`, 'GET, HEAD, OPTIONS'],
    ['DELETE', `/otp/${OTP_ID}`, 'GET, HEAD, OPTIONS'],
  ]
  for (const [method, path, allow] of wrongMethods)
    it(`is 405 for ${method} ${path}`, async () => {
      const response = await edge.request(`/api/v1${path}`, { method })
      expect(response.status).to.equal(405)
      expect(response.headers.get('allow')).to.equal(allow)
      expect((await problemOf(response)).type).to.equal('HTTPException')
    })

  for (const path of ['/api/v1/otp/send', '/api/v1/nowhere', '/openapi.json', '/docs'])
    it(`answers with the caller's request id if it is well-formed: ${path}`, async () => {
      const own = await edge.request(path, { headers: { 'X-Request-Id': 'my-id.1' } })
      await own.text()
      expect(own.headers.get('x-request-id')).to.equal('my-id.1')
      const odd = await edge.request(path, { headers: { 'X-Request-Id': 'my id' } })
      await odd.text()
      expect(odd.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/)
    })
})

// The paths of the API, and the answers at other paths.
import { expect } from 'chai'
import { OTP_ID, problemOf, startTestEdge, type TestEdge } from '../../support/edge.ts'

describe('a path of the API', () => {
  let edge: TestEdge
  before(async () => {
    edge = await startTestEdge()
  })
  after(() => edge.close())

  for (const path of ['/otp', '/otp/send/now', '/verifications/exchange/x'])
    it(`is 404 if it is ${path}`, async () => {
      const response = await edge.request(`/api/v1${path}`, { method: 'POST' })
      expect(response.status).to.equal(404)
      expect((await problemOf(response)).type).to.equal('HTTPException')
    })

  const wrongMethods: [string, string, string][] = [
    ['GET', '/otp/send', 'OPTIONS, POST'],
    ['PUT', '/otp/resend', 'OPTIONS, POST'],
    ['GET', '/otp/cancel', 'POST'],
    ['OPTIONS', '/otp/cancel', 'POST'],
    ['POST', `/otp/${OTP_ID}`, 'GET, HEAD, OPTIONS'],
  ]
  for (const [method, path, allow] of wrongMethods)
    it(`is 405 for ${method} ${path}`, async () => {
      const response = await edge.request(`/api/v1${path}`, { method })
      expect(response.status).to.equal(405)
      expect(response.headers.get('allow')).to.equal(allow)
      expect((await problemOf(response)).type).to.equal('HTTPException')
    })
})

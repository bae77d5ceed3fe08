// The limit on requests that wait at one edge, of which one company may hold half. A request beyond it is refused at once, without a call
// to the OTP actor.
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import type { OtpAnswer } from '../../../machines/calls.ts'
import { KEYS, OTP_ID, problemOf, startTestEdge, type TestEdge, view } from '../../support/edge.ts'
import { eventually } from '../../support/eventually.ts'

const SEND = { recipient: '+447911123456' }

describe('the requests waiting at an edge', () => {
  let edge: TestEdge
  let release: (answer?: OtpAnswer) => void
  beforeEach(async () => {
    edge = await startTestEdge({ maxInFlight: 6 })
    const answer = new Promise<OtpAnswer>(resolve => {
      release = (given = { kind: 'verification', verification: view() }) => resolve(given)
    })
    edge.stubs.answer = () => answer
  })
  afterEach(() => edge.close())

  it('are limited, and stop counting once they are answered', async () => {
    const waiting = [1, 2, 3].map(() => edge.post('/otp/send', SEND))
    await eventually(() => expect(edge.calls).to.have.length(3))

    const refused = await edge.post('/otp/verify', { otp_id: OTP_ID, code: '123456' })
    expect(refused.status).to.equal(503)
    expect(refused.headers.get('retry-after')).to.equal('1')
    expect((await problemOf(refused)).type).to.equal('ServiceUnavailableError')
    expect((await edge.get(`/otp/${OTP_ID}`)).status).to.equal(503)
    expect(edge.calls).to.have.length(3)

    release()
    for (const response of await Promise.all(waiting)) expect(response.status).to.equal(200)
    expect((await edge.post('/otp/send', SEND)).status).to.equal(200)
  })

  it('do not include requests that are refused for their key or body, or whose body has not arrived', async () => {
    const waiting = [1, 2].map(() => edge.post('/otp/send', SEND))
    await eventually(() => expect(edge.calls).to.have.length(2))
    expect((await edge.post('/otp/send', {})).status).to.equal(422)
    expect((await edge.post('/otp/send', SEND, { key: 'sk_test_unknown' })).status).to.equal(401)
    const slow = Array.from({ length: 10 }, () => connect(edge.port, '127.0.0.1'))
    const head = `Host: test\r\nAuthorization: Bearer ${KEYS.serverTest}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n`
    for (const socket of slow) socket.write(`POST /api/v1/otp/send HTTP/1.1\r\n${head}\r\n{`)
    await Promise.all(slow.map(socket => once(socket, 'connect')))
    waiting.push(edge.post('/otp/send', SEND))
    await eventually(() => expect(edge.calls).to.have.length(3))
    for (const socket of slow) socket.destroy()
    release()
    await Promise.all(waiting)
  })
})

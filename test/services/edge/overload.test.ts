// Too many requests, over HTTP: those that would wait too long are refused at once, and those of callers that have gone are not executed.
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import type { OtpAnswer } from '../../../machines/calls.ts'
import { KEYS, startTestEdge, type TestEdge, view } from '../../support/edge.ts'
import { eventually } from '../../support/eventually.ts'
import { createGate } from '../../support/gate.ts'

const SEND = { recipient: '+447911123456' }
const ANSWER: OtpAnswer = { kind: 'verification', verification: view() }

describe('an edge with too many requests', () => {
  let edge: TestEdge
  beforeEach(async () => {
    edge = await startTestEdge()
  })
  afterEach(() => edge.close())

  it('makes no call for a caller that hung up while its key was looked up', async () => {
    const { keyByHash } = edge.stubs
    const { released, release } = createGate()
    edge.stubs.keyByHash = async hash => {
      await released
      return keyByHash(hash)
    }
    const socket = connect(edge.port, '127.0.0.1')
    const body = JSON.stringify(SEND)
    socket.write(
      `POST /api/v1/otp/send HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${KEYS.serverTest}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await eventually(() => expect(edge.lookups).to.have.length(1))
    socket.destroy()
    await once(socket, 'close')
    release()
    await eventually(() => expect(edge.captured.lines().filter(({ msg }) => msg === 'http.answered')).to.have.length(1))
    expect(edge.calls).to.deep.equal([])
    expect((await edge.post('/otp/send', SEND)).status).to.equal(200)
  })

  it('does not count requests that are refused for their key or body, or whose body has not arrived', async () => {
    await edge.close()
    edge = await startTestEdge({ maxInFlight: 6 })
    const { released, release } = createGate()
    edge.stubs.answer = () => released.then(() => ANSWER)
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

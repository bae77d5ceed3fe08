import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { createBodyLimiter } from '../../../../services/channel/callbacks/body-limits.ts'
import { testClock } from '../../../support/clock.ts'

describe('the intake of callbacks', () => {
  const createTestLimiter = () => {
    const clock = testClock()
    const watch = createBodyLimiter({ maxTotalBytes: 10, timeoutMs: 5_000 }, clock)
    const request = () => {
      const stream = new PassThrough()
      const done = watch(stream as unknown as IncomingMessage)
      return { stream, done, write: (bytes: number) => stream.write(Buffer.alloc(bytes)) }
    }
    return { clock, request }
  }
  const settled = () => new Promise(resolve => setImmediate(resolve))

  it('takes so many bytes at once, whoever sends them; of too many, whoever holds most is cut off, not who came last', async () => {
    const { request } = createTestLimiter()
    const [first, second] = [request(), request()]
    first.write(6)
    second.write(4)
    await settled()
    expect([first.stream.destroyed, second.stream.destroyed]).to.deep.equal([false, false])
    second.write(1)
    await settled()
    expect([first.stream.destroyed, second.stream.destroyed]).to.deep.equal([true, false])
    second.write(5)
    await settled()
    expect(second.stream.destroyed, 'there is room again').to.equal(false)
  })

  it('has room again when a body is done with', async () => {
    const { request } = createTestLimiter()
    const first = request()
    first.write(10)
    await settled()
    first.done()
    const second = request()
    second.write(10)
    await settled()
    expect(second.stream.destroyed).to.equal(false)
  })

  it('waits a while for a body, and no longer; what has come may take its time', async () => {
    const { request, clock } = createTestLimiter()
    const [slow, complete] = [request(), request()]
    slow.write(1)
    complete.stream.end()
    await settled()
    await clock.advance(4_999)
    expect(slow.stream.destroyed).to.equal(false)
    await clock.advance(1)
    expect(slow.stream.destroyed).to.equal(true)
    expect(complete.stream.errored).to.equal(null)
  })
})

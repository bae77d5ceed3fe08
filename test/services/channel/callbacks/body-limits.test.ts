import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { createBodyLimiter } from '../../../../services/channel/callbacks/body-limits.ts'
import { testClock } from '../../../support/clock.ts'

describe('the limits for bodies of callbacks', () => {
  const createTestLimiter = () => {
    const clock = testClock()
    const limitBody = createBodyLimiter({ maxTotalBytes: 10, timeoutMs: 5_000 }, clock)
    const request = () => {
      const stream = new PassThrough()
      const done = limitBody(stream as unknown as IncomingMessage)
      return { stream, done, write: (bytes: number) => stream.write(Buffer.alloc(bytes)) }
    }
    return { clock, request }
  }
  const nextTick = () => new Promise(resolve => setImmediate(resolve))

  it('cut off the largest request, and not the latest, when all together are too large', async () => {
    const { request } = createTestLimiter()
    const [first, second] = [request(), request()]
    first.write(6)
    second.write(4)
    await nextTick()
    expect([first.stream.destroyed, second.stream.destroyed]).to.deep.equal([false, false])
    second.write(1)
    await nextTick()
    expect([first.stream.destroyed, second.stream.destroyed]).to.deep.equal([true, false])
    second.write(5)
    await nextTick()
    expect(second.stream.destroyed, 'within the limit again').to.equal(false)
  })

  it('do not count a body that is no longer needed', async () => {
    const { request } = createTestLimiter()
    const first = request()
    first.write(10)
    await nextTick()
    first.done()
    const second = request()
    second.write(10)
    await nextTick()
    expect(second.stream.destroyed).to.equal(false)
  })

  it('cut off a body that takes too long to arrive, but not the handling of a complete one', async () => {
    const { request, clock } = createTestLimiter()
    const [slow, complete] = [request(), request()]
    slow.write(1)
    complete.stream.end()
    await nextTick()
    await clock.advance(4_999)
    expect(slow.stream.destroyed).to.equal(false)
    await clock.advance(1)
    expect(slow.stream.destroyed).to.equal(true)
    expect(complete.stream.errored).to.equal(null)
  })
})

// Admission by time, on a clock that stands still: what a call in the queue would wait follows from the calls in flight and the answers.
import { expect } from 'chai'
import { Problem } from '../../../infra/http/problem.ts'
import { createAdmission } from '../../../services/edge/admission.ts'
import { testClock } from '../../support/clock.ts'

describe('admission by time', () => {
  const startQueue = () => {
    const clock = testClock()
    const admission = createAdmission(clock)
    const answers: (() => void)[] = []
    const finished: Promise<unknown>[] = []
    return {
      clock,
      admission,
      /** Begins calls that wait for `answer`, or throws the refusal. */
      begin(count: number): void {
        for (let n = 0; n < count; n += 1) {
          admission.check()
          finished.push(admission.run(() => new Promise<void>(resolve => answers.push(resolve))))
        }
      },
      /** Answers the oldest calls, one every `everyMs`. */
      async answer(count: number, everyMs: number): Promise<void> {
        for (let n = 0; n < count; n += 1) {
          await clock.advance(everyMs)
          answers.shift()?.()
          await finished.shift()
        }
      },
      refusal(): Problem | null {
        try {
          admission.check()
          return null
        } catch (error) {
          if (error instanceof Problem) return error
          throw error
        }
      },
    }
  }

  it('admits a burst to an idle system, whose slow single answers say nothing about its rate', async () => {
    const queue = startQueue()
    queue.begin(1)
    await queue.answer(1, 50)
    queue.begin(500)
    expect(queue.refusal()).to.equal(null)
  })

  it('refuses at once, with Retry-After, what would wait longer than a second', async () => {
    const queue = startQueue()
    queue.begin(700)
    await queue.answer(150, 2)
    // 550 calls at 2 ms each are 1.1 s.
    const refusal = queue.refusal()
    expect(refusal?.status).to.equal(503)
    expect(refusal?.extras.headers).to.deep.equal({ 'Retry-After': '2' })
  })

  it('admits again as soon as the queue is short enough', async () => {
    const queue = startQueue()
    queue.begin(700)
    await queue.answer(150, 2)
    await queue.answer(100, 2)
    expect(queue.refusal()).to.equal(null)
    queue.begin(40)
    expect(() => queue.begin(200)).to.throw(Problem)
  })

  it('admits more when answers come faster, and less when they come slower', async () => {
    const fast = startQueue()
    fast.begin(1_500)
    await fast.answer(500, 0.5)
    expect(fast.refusal()).to.equal(null)
    const slow = startQueue()
    slow.begin(200)
    await slow.answer(40, 20)
    expect(slow.refusal()?.extras.headers).to.deep.equal({ 'Retry-After': '4' })
  })

  it('refuses when nothing was answered for a second, and never the first 64', async () => {
    const queue = startQueue()
    queue.begin(63)
    await queue.clock.advance(4_000)
    queue.begin(1)
    expect(queue.refusal()?.status).to.equal(503)
    await queue.answer(1, 0)
    expect(queue.refusal()).to.equal(null)
  })

  it('lets a call that waits for something of its own harm no other', async () => {
    const queue = startQueue()
    const stuck = queue.admission.run(() => new Promise(() => {}))
    void stuck
    for (let round = 0; round < 20; round += 1) {
      queue.begin(100)
      await queue.answer(100, 1)
    }
    queue.begin(200)
    expect(queue.refusal()).to.equal(null)
  })

  it('counts a call that fails as answered', async () => {
    const { admission, clock, refusal } = startQueue()
    for (let n = 0; n < 100; n += 1) await admission.run(() => Promise.reject(new Error('lost'))).catch(() => {})
    await clock.advance(10_000)
    expect(refusal()).to.equal(null)
  })
})

// Admission by time, on a clock that stands still: what a call in the queue would wait follows from the calls in flight and the answers.
import { expect } from 'chai'
import fc from 'fast-check'
import { Problem } from '../../../infra/http/problem.ts'
import { createAdmission, type Holder } from '../../../services/domain/admission.ts'
import { testClock } from '../../support/clock.ts'

const servers = (company_id: string): Holder => ({ company_id, kind: 'server' })
const devices = (company_id: string): Holder => ({ company_id, kind: 'publishable' })
const holderOf = (holder: string | Holder): Holder => (typeof holder === 'string' ? servers(holder) : holder)

describe('admission to an edge', () => {
  const startQueue = (maxInFlight = 10_000) => {
    const clock = testClock()
    const admission = createAdmission({ clock, maxInFlight })
    const answers: (() => void)[] = []
    const finished: Promise<unknown>[] = []
    const queue = {
      clock,
      admission,
      /** Begins calls that wait for `answer`, or throws the refusal. A company means its servers. */
      begin(count: number, company: string | Holder = 'cmp_a'): void {
        const holder = holderOf(company)
        for (let n = 0; n < count; n += 1) {
          admission.check(holder)
          finished.push(admission.call(holder, () => new Promise<void>(resolve => answers.push(resolve))))
        }
      },
      /** Begins calls until one is refused. Answers how many were admitted. */
      flood(company: string | Holder): number {
        let admitted = 0
        for (; queue.refusal(company) === null; admitted += 1) queue.begin(1, company)
        return admitted
      },
      /** Answers the oldest calls, one every `everyMs`. */
      async answer(count: number, everyMs: number): Promise<void> {
        for (let n = 0; n < count; n += 1) {
          await clock.advance(everyMs)
          answers.shift()?.()
          await finished.shift()
        }
      },
      refusal(company: string | Holder = 'cmp_a'): Problem | null {
        try {
          admission.check(holderOf(company))
          return null
        } catch (error) {
          if (error instanceof Problem) return error
          throw error
        }
      },
    }
    return queue
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
    const stuck = queue.admission.call(servers('cmp_a'), () => new Promise(() => {}))
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
    for (let n = 0; n < 100; n += 1)
      await admission.call(servers('cmp_a'), () => Promise.reject(new Error('lost'))).catch(() => {})
    await clock.advance(10_000)
    expect(refusal()).to.equal(null)
  })

  const THIRD = (max: number) => Math.ceil(max / 3)

  it('gives one company half of the places, and refuses more with Retry-After', () => {
    const queue = startQueue(2_000)
    expect(queue.flood('cmp_a')).to.equal(1_000)
    const refused = queue.refusal('cmp_a')
    expect(refused?.status).to.equal(503)
    expect(refused?.extras).to.deep.include({
      detail: 'Too many requests of this company are waiting. Nothing was executed.',
      headers: { 'Retry-After': '1' },
    })
    expect(queue.refusal('cmp_b')).to.equal(null)
  })

  it('leaves places for others however many companies flood it, and the last one for a company that holds none', () => {
    const queue = startQueue(100)
    const flooding = ['cmp_a', 'cmp_b', 'cmp_c', 'cmp_d']
    for (const company of flooding) expect(queue.flood(company), company).to.be.greaterThan(0)
    let others = 0
    while (queue.refusal(`cmp_other_${others}`) === null) {
      queue.begin(1, `cmp_other_${others}`)
      others += 1
    }
    expect(others).to.be.greaterThan(2)
    expect(queue.refusal('cmp_new')?.extras.detail).to.equal('Too many requests are waiting. Nothing was executed.')
  })

  it('never has more requests waiting than its places, and never more of one company than half, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 20 }),
        fc.array(
          fc.tuple(
            fc.constantFrom('cmp_a', 'cmp_b', 'cmp_c'),
            fc.constantFrom<Holder['kind']>('server', 'publishable'),
            fc.boolean(),
            fc.boolean(),
          ),
          { maxLength: 80 },
        ),
        async (max, requests) => {
          const admission = createAdmission({ clock: testClock(), maxInFlight: max })
          const waiting: { company: string; answer(): void; done: Promise<unknown> }[] = []
          for (const [company, kind, isCall, isAnswered] of requests) {
            let answer: (() => void) | null = null
            const hadNone = waiting.every(one => one.company !== company)
            const done = admission[isCall ? 'call' : 'read'](
              { company_id: company, kind },
              () =>
                new Promise<void>(resolve => {
                  answer = resolve
                }),
            ).catch(() => {})
            if (answer !== null) waiting.push({ company, answer, done })
            else if (hadNone) expect(waiting.length, 'a company without a place').to.equal(max)
            expect(waiting.length).to.be.at.most(max)
            for (const { company: one } of waiting)
              expect(waiting.filter(other => other.company === one).length).to.be.at.most(Math.max(1, max / 2))
            const oldest = isAnswered ? waiting.shift() : undefined
            oldest?.answer()
            await oldest?.done
          }
        },
      ),
    )
  })

  it('gives the devices of a company a third, which leaves places and time for its servers', async () => {
    const places = startQueue(600)
    expect(places.flood(devices('cmp_a'))).to.be.within(198, 200)
    expect(places.flood(servers('cmp_a')), 'up to half for both').to.be.within(98, 102)
    expect(places.refusal('cmp_b')).to.equal(null)

    const time = startQueue()
    time.begin(600)
    await time.answer(600, 2)
    time.begin(200, devices('cmp_a'))
    await time.clock.advance(300)
    time.flood(devices('cmp_a'))
    expect(time.refusal(devices('cmp_a'))?.extras.detail).to.include('would take too long')
    expect(time.flood(servers('cmp_a'))).to.be.greaterThan(20)
  })

  it('does not let one company use up the time of the actor: others are still admitted', async () => {
    const queue = startQueue()
    queue.begin(600)
    await queue.answer(150, 2)
    queue.flood('cmp_a')
    expect(queue.refusal('cmp_a')?.extras.detail).to.equal('The answer would take too long. Nothing was executed.')
    // The actor answers 1 000 calls in two seconds. The first company waits for half of them.
    expect(queue.flood('cmp_b')).to.be.within(THIRD(700), THIRD(800))
    expect(queue.refusal('cmp_c')).to.equal(null)
  })

  it('admits a company with few calls while the burst of another is answered, unless that takes too long for any caller', async () => {
    for (const { msPerCall, admitted } of [
      { msPerCall: 3, admitted: true },
      { msPerCall: 6, admitted: false },
    ]) {
      const queue = startQueue()
      queue.begin(1_100, 'cmp_a')
      await queue.answer(100, msPerCall)
      expect(queue.refusal('cmp_a')?.status).to.equal(503)
      expect(queue.refusal('cmp_b') === null, `${msPerCall} ms`).to.equal(admitted)
    }
  })

  it('counts calls that wait for their turn, until it comes', () => {
    const { admission, refusal } = startQueue(4)
    const begin = [servers('cmp_a'), servers('cmp_a')].map(admission.reserve)
    expect(refusal()?.message).to.equal('Too many requests of this company are waiting. Nothing was executed.')
    expect(refusal('cmp_b')).to.equal(null)
    for (const each of begin) each()
    expect(refusal()).to.equal(null)
  })

  it('sees a queue in calls that wait long for their turn', async () => {
    const { admission, clock, refusal } = startQueue()
    const begin = Array.from({ length: 64 }, () => admission.reserve(servers('cmp_a')))
    expect(refusal()).to.equal(null)
    await clock.advance(1_500)
    expect(refusal()?.message).to.equal('The answer would take too long. Nothing was executed.')
    for (const each of begin) each()
    expect(refusal()).to.equal(null)
  })

  it('does not take the slow calls of one company for those of another', async () => {
    const queue = startQueue()
    queue.begin(60, 'cmp_slow')
    for (let round = 0; round < 20; round += 1) {
      await queue.answer(40, 50)
      queue.begin(40, 'cmp_slow')
    }
    await queue.clock.advance(500)
    expect(queue.flood('cmp_slow'), '64 in all').to.equal(4)
    // Those of the other company are answered at once, although slow ones are in flight.
    for (let round = 0; round < 200; round += 1) await queue.admission.call(servers('cmp_fast'), async () => {})
    expect(queue.refusal('cmp_fast')).to.equal(null)
    queue.begin(500, 'cmp_fast')
  })

  it('knows the time per call of a busy company, however many others have called since its first call', async () => {
    const { admission, clock, begin, refusal } = startQueue()
    for (let n = 0; n < 10_000; n += 1) {
      if (n % 100 === 0) await admission.call(servers('cmp_busy'), () => clock.advance(50))
      await admission.call(servers(`cmp_${n}`), async () => {})
    }
    begin(70, 'cmp_busy')
    await clock.advance(300)
    // Its own calls take 50 ms each. By the time that all calls take, about 0.5 ms, it would be admitted.
    expect(refusal('cmp_busy')?.status).to.equal(503)
  })

  it('still admits another company when nothing is answered any more', async () => {
    const queue = startQueue()
    queue.begin(200, 'cmp_a')
    await queue.clock.advance(4_000)
    expect(queue.refusal('cmp_a')?.status).to.equal(503)
    expect(queue.refusal('cmp_b')?.status, 'more are waiting than may').to.equal(503)
    await queue.answer(130, 0)
    await queue.clock.advance(4_000)
    expect(queue.refusal('cmp_b')).to.equal(null)
  })
})

// How long refusals wait. A refusal takes as long as a test says, on a clock of its own.
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expect } from 'chai'
import {
  ANSWERS_PER_NEW_CONNECTION,
  ANSWERS_PER_TURN,
  createRefusalPacing,
  MAX_DELAY_MS,
  MAX_WAITING,
} from '../../../infra/http/refusal-pacing.ts'
import { testClock } from '../../support/clock.ts'

function createStorm({ answerMs = 0.2, arrivalMs = 0.2 } = {}) {
  const clock = testClock()
  let elapsed = 0
  const pacing = createRefusalPacing({ clock, elapsed: () => elapsed })
  const storm = {
    clock,
    pacing,
    answers: [] as { id: number; waitedMs: number }[],
    refused: 0,
    resumed: 0,
    refuse(socket: object | null = {}) {
      const [id, arrivedAt] = [storm.refused, clock.now()]
      storm.refused += 1
      elapsed += arrivalMs
      const resume = () => {
        storm.resumed += 1
      }
      const request = { resume } as unknown as IncomingMessage
      const response = Object.assign(new EventEmitter(), { socket }) as unknown as ServerResponse
      pacing.pace(request, response, () => {
        elapsed += answerMs
        storm.answers.push({ id, waitedMs: clock.now() - arrivedAt })
      })
      return response
    },
    refuseMany(count: number) {
      for (let n = 0; n < count; n += 1) storm.refuse()
    },
    /** Every answered caller repeats its call. The result is how many were answered. */
    async repeatFor(ms: number) {
      const first = storm.answers.length
      for (let passed = 0; passed < ms; passed += 10) {
        const before = storm.answers.length
        await clock.advance(10)
        storm.refuseMany(storm.answers.length - before)
      }
      return storm.answers.length - first
    },
    longestWait: () => Math.max(...storm.answers.map(({ waitedMs }) => waitedMs)),
  }
  return storm
}

describe('the pacing of refusals', () => {
  it('answers a single one at once, however often one comes', async () => {
    const storm = createStorm()
    for (let n = 0; n < 100; n += 1) {
      storm.refuse()
      expect(storm.answers).to.have.length(n + 1)
      await storm.clock.advance(20)
    }
    expect(storm.longestWait()).to.equal(0)
    expect(storm.resumed, 'their bodies are left alone').to.equal(0)
  })

  it('leaves four fifths of the event loop to other work, whatever a refusal takes', async () => {
    for (const ms of [0.05, 0.2, 1]) {
      const storm = createStorm({ answerMs: ms, arrivalMs: ms })
      storm.refuseMany(100 / ms)
      // It learns what a refusal takes.
      await storm.repeatFor(2_000)
      const share = ((await storm.repeatFor(1_000)) * 2 * ms) / 1_000
      expect(share, `${ms} ms`).to.be.within(0.1, 0.2)
    }
  })

  it('answers in the order of arrival, and the later the more there are', async () => {
    const waits = []
    for (const callers of [100, 400]) {
      const storm = createStorm()
      storm.refuseMany(callers)
      await storm.clock.advance(MAX_DELAY_MS)
      expect(storm.answers.map(({ id }) => id)).to.deep.equal(Array.from({ length: callers }, (_, id) => id))
      waits.push(storm.longestWait())
    }
    expect(waits[0]).to.be.within(100, 500)
    expect(waits[1]).to.be.within(600, 1_500)
  })

  it('keeps none longer than two seconds, and spreads their answers over that time', async () => {
    const storm = createStorm()
    storm.refuseMany(4_000)
    await storm.clock.advance(MAX_DELAY_MS / 2)
    expect(storm.answers.length, 'evenly').to.be.within(1_500, 2_500)
    await storm.clock.advance(MAX_DELAY_MS / 2 + 10)
    expect(storm.answers).to.have.length(4_000)
    expect(storm.longestWait()).to.be.at.most(MAX_DELAY_MS + 10)
    storm.refuse()
    await storm.clock.advance(200)
    expect(storm.answers.at(-1)?.waitedMs, 'of one that comes later').to.be.below(200)
  })

  it('does nothing for a caller that has hung up, and keeps nothing of it', async () => {
    const storm = createStorm()
    storm.refuseMany(200)
    expect(storm.resumed, 'bodies of those that wait are read').to.equal(200 - storm.answers.length)
    const [waited, gone] = [storm.answers.length, Array.from({ length: 100 }, () => storm.refuse())]
    for (const response of gone) response.emit('close')
    await storm.clock.advance(MAX_DELAY_MS)
    expect(storm.answers.map(({ id }) => id)).to.deep.equal(Array.from({ length: 200 }, (_, id) => id))
    expect(waited).to.be.below(100)
  })

  it('keeps one of each connection at most: Node holds the answers behind it back by itself', () => {
    const storm = createStorm()
    storm.refuseMany(200)
    const before = storm.answers.length
    storm.refuse(null)
    expect(storm.answers.slice(before)).to.deep.equal([{ id: 200, waitedMs: 0 }])
  })

  it('answers some for each connection more: their callers do not wait for an answer before the next request', () => {
    const storm = createStorm()
    const connections = Array.from({ length: 3 }, () => new EventEmitter())
    const open = (connection = new EventEmitter()) => storm.pacing.connectionOpened(connection as unknown as Socket)
    for (const connection of connections) open(connection)
    storm.refuseMany(200)
    const before = storm.answers.length
    connections[0]?.emit('close')
    open()
    expect(storm.answers, 'as many connections as before').to.have.length(before)
    open()
    expect(storm.answers).to.have.length(before + ANSWERS_PER_NEW_CONNECTION)
    expect(storm.answers.at(-1)?.id, 'the oldest').to.equal(before + ANSWERS_PER_NEW_CONNECTION - 1)
  })

  it('answers the oldest at once when too many wait', () => {
    const storm = createStorm()
    storm.refuseMany(MAX_WAITING)
    const before = storm.answers.length
    storm.refuseMany(before + 2)
    expect(storm.answers.slice(before).map(({ id }) => id)).to.deep.equal([before, before + 1])
  })

  it('answers everything at once when it ends, and each later one', async () => {
    const storm = createStorm()
    storm.refuseMany(1_000)
    const before = storm.answers.length
    storm.pacing.end()
    const answered = storm.clock.advance(10)
    while (storm.answers.length === before) await new Promise(resolve => setImmediate(resolve))
    expect(storm.answers, 'in one turn of the event loop').to.have.length(before + ANSWERS_PER_TURN)
    await answered
    expect(storm.answers).to.have.length(1_000)
    storm.refuse()
    expect(storm.answers).to.have.length(1_001)
  })
})

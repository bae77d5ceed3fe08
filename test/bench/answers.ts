// Counts what callers were answered, and when. In: each answer with its time. Out: figures.
import process from 'node:process'
import { quantile } from './measure.ts'

interface Timing {
  count: number
  /** Milliseconds from the request to its answer, a new connection included. */
  p50: number
  p99: number
  max: number
}

export interface AnswerFigures {
  /** Answers that came while requests were made. `accepted` and `refused` count the later ones too. */
  acceptedPerSecond: number
  refusedPerSecond: number
  /** Answered 200. */
  accepted: Timing
  /** Answered 503. */
  refused: Timing
  unanswered: number
  otherAnswers: number
  /** Processor time that the callers themselves took while they made requests. */
  callersCpuMs: number
}

interface Answers {
  add(status: number, ms: number): void
  addUnanswered(): void
  /** Called when the last request is made, `durationMs` after the first. */
  end(durationMs: number): void
  figures(): AnswerFigures
}

export function countAnswers(): Answers {
  const times: Record<'200' | '503', number[]> = { 200: [], 503: [] }
  const cpuAtBegin = process.cpuUsage()
  let [unanswered, otherAnswers] = [0, 0]
  let atEnd = { acceptedPerSecond: 0, refusedPerSecond: 0, callersCpuMs: 0 }
  return {
    add(status, ms) {
      if (status === 200 || status === 503) times[status].push(ms)
      else otherAnswers += 1
    },
    addUnanswered() {
      unanswered += 1
    },
    end(durationMs) {
      const { user, system } = process.cpuUsage(cpuAtBegin)
      atEnd = {
        acceptedPerSecond: (times[200].length * 1_000) / durationMs,
        refusedPerSecond: (times[503].length * 1_000) / durationMs,
        callersCpuMs: (user + system) / 1_000,
      }
    },
    figures: () => ({
      ...atEnd,
      accepted: timing(times[200]),
      refused: timing(times[503]),
      unanswered,
      otherAnswers,
    }),
  }
}

const timing = (all: readonly number[]): Timing => ({
  count: all.length,
  p50: quantile(all, 0.5),
  p99: quantile(all, 0.99),
  max: quantile(all, 1),
})

// Runs jobs after the answer to their request, a few at a time. In: jobs. Out: nothing: a job that fails is logged. When too many wait, a
// further request is refused. A job begins only when the answer has been sent: where all roles share one process, its work would delay
// the answer, and the time of the answer would tell whether there was work.
import type { ServerResponse } from 'node:http'
import { createConcurrencyLimit } from '../../../infra/concurrency-limit.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { createUnderWay } from '../../../infra/under-way.ts'
import { problem } from '../../domain/errors.ts'

export interface AfterAnswer {
  run(answer: ServerResponse, job: () => Promise<void>): void
  /** Resolves when all jobs have ended. */
  stop(): Promise<void>
}

const MAX_AT_ONCE = 8
const MAX_JOBS = 1_000

export function createAfterAnswer(log: Pick<Logger, 'error'>): AfterAnswer {
  const takeTurn = createConcurrencyLimit(MAX_AT_ONCE)
  const jobs = createUnderWay()
  return {
    run(answer, job) {
      if (jobs.size() >= MAX_JOBS)
        throw problem('ServiceUnavailableError', { detail: 'Too many codes are being sent. Try again.' })
      jobs.add(
        whenSent(answer)
          .then(() => takeTurn(job))
          .catch(error => log.error({ err: error }, 'sign_in.code_not_sent')),
      )
    },
    stop: jobs.settled,
  }
}

const whenSent = (answer: ServerResponse): Promise<void> =>
  new Promise(resolve => {
    if (answer.closed) resolve()
    else answer.once('close', resolve)
  })

// Work that goes on after an answer, such as reading a long address list. In: jobs. Out: nothing: a job saves its own result.
import type { Logger } from '../../infra/log/log.ts'

export interface BackgroundQueue {
  run(job: () => Promise<void>): void
  /** Resolves when the running job has ended. Jobs that have not begun are dropped. */
  stop(): Promise<void>
}

export function createBackgroundQueue(log: Pick<Logger, 'error'>): BackgroundQueue {
  let last = Promise.resolve()
  let stopping = false
  return {
    run(job) {
      last = last
        .then(() => (stopping ? undefined : job()))
        .catch(error => log.error({ err: error }, 'background.failed'))
    },
    stop() {
      stopping = true
      return last
    },
  }
}

// A consumer that can be paused. In: how to attach. Out: the port's consumer: a pause stops what is attached, and resuming attaches again.
// Both adapters use it, so that a pause means the same everywhere.
import type { Consumer } from './broker.ts'
import type { Queue } from './topology.ts'

/** What an adapter attaches. */
export type AttachedConsumer = Pick<Consumer, 'attached' | 'stop'>

/** Resolves once attached. */
export async function createPausableConsumer(queue: Queue, attach: () => Promise<AttachedConsumer>): Promise<Consumer> {
  let current: AttachedConsumer | undefined = await attach()
  let stopped = false
  let lastTask = Promise.resolve()

  /** Pauses and resumes run one after the other. One that failed does not affect the next. */
  function inTurn(task: () => Promise<void>): Promise<void> {
    const run = lastTask.then(task)
    lastTask = run.catch(() => {})
    return run
  }

  async function pause(): Promise<void> {
    await current?.stop()
    current = undefined
  }

  async function resume(): Promise<void> {
    if (stopped || current) return
    const attached = await attach()
    if (stopped) await attached.stop(0)
    else current = attached
  }

  return {
    queue,
    attached: () => current?.attached() ?? false,
    pause: () => inTurn(pause),
    resume: () => inTurn(resume),
    async stop(graceMs) {
      stopped = true
      await current?.stop(graceMs)
    },
  }
}

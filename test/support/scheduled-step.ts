// Lets fast-check's scheduler order the operations of several processes on one store. Awaiting `scheduler.schedule` before an operation is
// not enough: while the operation runs, the scheduler would go on with the other processes, so no process could take two steps in a row.
import type fc from 'fast-check'

/** Runs the operation when it is its turn. The scheduler chooses the next one when it is done. */
export async function scheduledStep<T>(
  scheduler: fc.Scheduler,
  label: string,
  operation: () => Promise<T>,
): Promise<T> {
  let result: Promise<T> | undefined
  const builder = () => {
    result = operation()
    return result
  }
  await scheduler.scheduleSequence([{ label, builder }]).task
  if (result === undefined) throw new Error(`${label} was not run`)
  return result
}

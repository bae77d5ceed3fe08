// Adds counts to documents that other processes add to as well. In: what waits for each document, by id. Out: nothing; what is stored is
// removed from what waits, so that after a failure only the rest is added again.
import type { Change, Docs, Operators, RevisedDoc } from '../../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'

export interface Adder<T extends RevisedDoc, Waiting> {
  docs: Pick<Docs<T>, 'get' | 'insert' | 'change'>
  fresh(waiting: Waiting): T
  /** The members that change. */
  changed(doc: T, waiting: Waiting): NonNullable<Operators<T>['$set']>
}

export const addToDocuments = <T extends RevisedDoc, Waiting>(
  what: string,
  left: Map<string, Waiting>,
  adder: Adder<T, Waiting>,
): Promise<void> =>
  retryAfterLostRace(what, async () => {
    await addOnce(left, adder)
    return left.size > 0 ? LOST : undefined
  })

/** What stays in `left` was changed by another process first. The writes are made one after the other: when the second one fails, what the
 *  first one stored must not be added again. */
async function addOnce<T extends RevisedDoc, Waiting>(
  left: Map<string, Waiting>,
  { docs, fresh, changed }: Adder<T, Waiting>,
): Promise<void> {
  if (left.size === 0) return
  const found = await docs.get([...left.keys()])
  const missing: T[] = []
  const changes: Change<T>[] = []
  for (const [_id, waiting] of left) {
    const doc = found.get(_id)
    if (doc) changes.push({ _id, rev: doc.rev, update: { $set: changed(doc, waiting) } })
    else missing.push(fresh(waiting))
  }
  const inserted = await docs.insert(missing)
  for (const [at, { _id }] of missing.entries()) if (inserted[at] === 'inserted') left.delete(_id)
  const answers = await docs.change(changes)
  for (const [at, { _id }] of changes.entries()) if (answers[at] === 'won') left.delete(_id)
}

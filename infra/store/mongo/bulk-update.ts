// Updates of many documents by id. In: updates, each with the ids of its documents. Out: updated or missing, one answer per id.
//
// An update of several documents is one statement: that costs MongoDB half of what one statement per document does. Updates of
// one document each go together in one bulk. Neither says which of its documents were there, only how many; where some were
// missing, the ids are read again.
import type { Collection, UpdateFilter } from 'mongodb'
import type { Doc, GroupUpdate } from '../docs.ts'
import { bulkFailure } from './errors.ts'
import type { MongoDoc } from './mongo-doc.ts'

type Answer = 'updated' | 'missing'

/** An update of distinct documents. `positions` are those of their answers. */
interface Statement {
  ids: string[]
  positions: number[]
  update: UpdateFilter<MongoDoc>
}

export async function updateAll<T extends Doc>(
  collection: Collection<MongoDoc>,
  updates: readonly GroupUpdate<T>[],
): Promise<Answer[]> {
  const statements = statementsOf(updates)
  const single = statements.filter(({ ids }) => ids.length === 1)
  const shared = statements.filter(({ ids }) => ids.length > 1)
  const found = await Promise.all([bulkOf(collection, single), ...shared.map(one => updateShared(collection, one))])
  const answers: Answer[] = updates.flatMap(({ ids }) => ids.map(() => 'missing' as const))
  for (const position of found.flat()) answers[position] = 'updated'
  return answers
}

/** A filter matches a document once, so an id that an update names twice is in two statements. */
function statementsOf<T extends Doc>(updates: readonly GroupUpdate<T>[]): Statement[] {
  let position = 0
  return updates.flatMap(({ ids, update }) => {
    const rounds: Statement[] = []
    const timesSeen = new Map<string, number>()
    for (const id of ids) {
      const round = timesSeen.get(id) ?? 0
      timesSeen.set(id, round + 1)
      rounds[round] ??= { ids: [], positions: [], update: update as UpdateFilter<MongoDoc> }
      rounds[round].ids.push(id)
      rounds[round].positions.push(position)
      position += 1
    }
    return rounds
  })
}

async function updateShared(collection: Collection<MongoDoc>, statement: Statement): Promise<number[]> {
  const { matchedCount } = await collection.updateMany({ _id: { $in: statement.ids } }, statement.update)
  return matchedCount === statement.ids.length ? statement.positions : positionsFound(collection, [statement])
}

/** All updates of one document each, in one bulk. Updates of several documents are not in it: after a broken connection
 *  the driver repeats a bulk only if every statement of it updates a single document. */
async function bulkOf(collection: Collection<MongoDoc>, statements: Statement[]): Promise<number[]> {
  if (statements.length === 0) return []
  const operations = statements.map(({ ids: [_id = ''], update }) => ({ updateOne: { filter: { _id }, update } }))
  const matched = await collection.bulkWrite(operations, { ordered: false }).then(
    ({ matchedCount }) => matchedCount,
    // Always throws the port's error: any refused statement is a failure here. A missing document is not refused, only not matched.
    error => bulkFailure(error, []).matched,
  )
  return matched === statements.length
    ? statements.flatMap(({ positions }) => positions)
    : positionsFound(collection, statements)
}

/** A document that was updated and removed since counts as missing: it is gone either way. */
async function positionsFound(collection: Collection<MongoDoc>, statements: Statement[]): Promise<number[]> {
  const ids = statements.flatMap(statement => statement.ids)
  const found = await collection.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
  const present = new Set(found.map(({ _id }) => _id))
  return statements.flatMap(({ ids, positions }) => positions.filter((_, at) => present.has(ids[at] ?? '')))
}

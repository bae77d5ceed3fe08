// Conditional changes in one bulk. In: changes, each from a revision. Out: won or lost, by position.
//
// A bulk answers how many of its filters matched, not which. So a change is sent with a filter that fails on any other revision:
// MongoDB raises an error for a `$switch` without a matching branch, and an error carries its position. A change that neither failed
// nor matched was one of a missing document.
import type { AnyBulkWriteOperation, Collection, UpdateFilter } from 'mongodb'
import type { Change, Doc, RevisedDoc, Update } from '../docs.ts'
import { bulkFailure } from './errors.ts'
import type { MongoDoc } from './mongo-doc.ts'

type Answer = 'won' | 'lost'
type PositionedChange<T extends Doc> = { change: Change<T>; at: number }

const NO_BRANCH_OF_SWITCH = 40066

export async function changeAll<T extends Doc>(
  collection: Collection<MongoDoc>,
  changes: readonly Change<T>[],
): Promise<Answer[]> {
  const answers: Answer[] = changes.map(() => 'lost')
  for (const round of roundsOf(changes)) for (const { at } of await winnersOf(collection, round)) answers[at] = 'won'
  return answers
}

/** A document's second change in one call waits for its first: the order inside an unordered bulk is undefined. */
function roundsOf<T extends Doc>(changes: readonly Change<T>[]): PositionedChange<T>[][] {
  const rounds: PositionedChange<T>[][] = []
  const timesSeen = new Map<string, number>()
  for (const [at, change] of changes.entries()) {
    const round = timesSeen.get(change._id) ?? 0
    timesSeen.set(change._id, round + 1)
    rounds[round] ??= []
    rounds[round].push({ change, at })
  }
  return rounds
}

async function winnersOf<T extends Doc>(
  collection: Collection<MongoDoc>,
  round: PositionedChange<T>[],
): Promise<PositionedChange<T>[]> {
  const operations = round.map(({ change }) => toBulkOperation(change))
  const done = { matched: 0, failed: new Set<number>() }
  try {
    done.matched = (await collection.bulkWrite(operations, { ordered: false })).matchedCount
  } catch (error) {
    const { matched, refused } = bulkFailure(error, [NO_BRANCH_OF_SWITCH])
    done.matched = matched
    for (const { index } of refused) done.failed.add(index)
  }
  const left = round.filter((_, i) => !done.failed.has(i))
  return done.matched === left.length ? left : findApplied(collection, left)
}

function toBulkOperation<T extends Doc>({ _id, rev, update }: Change<T>): AnyBulkWriteOperation<MongoDoc> {
  // biome-ignore lint/suspicious/noThenProperty: MongoDB's word
  const hasRev = { $switch: { branches: [{ case: { $eq: ['$rev', rev] }, then: true }] } }
  return { updateOne: { filter: { _id, $expr: hasRev }, update: withRevIncrement(update as Update<RevisedDoc>) } }
}

function withRevIncrement(update: Update<RevisedDoc>): UpdateFilter<MongoDoc> {
  const raised: Update<RevisedDoc> = Array.isArray(update)
    ? [...update, { $set: { rev: { $add: ['$rev', 1] } } }]
    : { ...update, $inc: { ...update.$inc, rev: 1 } }
  return raised as UpdateFilter<MongoDoc>
}

/** A document that was changed and removed since counts as lost: it is gone either way. */
async function findApplied<T extends Doc>(
  collection: Collection<MongoDoc>,
  left: PositionedChange<T>[],
): Promise<PositionedChange<T>[]> {
  const ids = left.map(({ change }) => change._id)
  const found = await collection.find({ _id: { $in: ids } }, { projection: { rev: 1 } }).toArray()
  const revs = new Map(found.map(doc => [doc._id, Number(doc.rev)]))
  return left.filter(({ change: { _id, rev } }) => (revs.get(_id) ?? rev) > rev)
}

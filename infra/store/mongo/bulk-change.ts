// Conditional changes in one bulk. In: changes, each from a revision. Out: won or lost, by position.
//
// A bulk answers how many of its filters matched, not which. So a change is sent with a filter that fails on any other revision: `$switch`
// without a default is an error by definition, and errors do come with their position. What neither failed nor matched was a
// document that is not there.
//
// What is done alike to many documents, whatever their revision, is one statement: it costs the engine half.
import type { AnyBulkWriteOperation, Collection, UpdateFilter } from 'mongodb'
import type { Change, RevisedDoc, Update } from '../docs.ts'
import { bulkFailure } from './errors.ts'
import type { MongoDoc } from './mongo-doc.ts'

type Answer = 'won' | 'lost'
type PositionedChange = { change: Change<RevisedDoc>; at: number }

const NO_BRANCH_OF_SWITCH = 40066

export async function changeAll(
  collection: Collection<MongoDoc>,
  changes: readonly Change<RevisedDoc>[],
): Promise<Answer[]> {
  const answers: Answer[] = changes.map(() => 'lost')
  for (const round of roundsOf(changes)) for (const at of await winnersOf(collection, round)) answers[at] = 'won'
  return answers
}

/** A document's second change in one call waits for its first: nothing is said about the order inside a bulk. */
function roundsOf(changes: readonly Change<RevisedDoc>[]): PositionedChange[][] {
  const rounds: PositionedChange[][] = []
  const seen = new Map<string, number>()
  for (const [at, change] of changes.entries()) {
    const round = seen.get(change._id) ?? 0
    seen.set(change._id, round + 1)
    rounds[round] ??= []
    rounds[round].push({ change, at })
  }
  return rounds
}

async function winnersOf(collection: Collection<MongoDoc>, round: PositionedChange[]): Promise<number[]> {
  const { shared, single } = groupByUpdate(round)
  const winners = await Promise.all([
    ...shared.map(group => winnersOfGroup(collection, group)),
    ...(single.length === 0 ? [] : [winnersOfBulk(collection, single)]),
  ])
  return winners.flat().map(({ at }) => at)
}

/** Those that share one update, the very same object, and ask for no revision. */
function groupByUpdate(round: PositionedChange[]): { shared: PositionedChange[][]; single: PositionedChange[] } {
  const groups = new Map<unknown, PositionedChange[]>()
  for (const one of round) {
    const { rev, update } = one.change
    const kind = rev === undefined ? update : one
    const group = groups.get(kind)
    if (group) group.push(one)
    else groups.set(kind, [one])
  }
  const all = [...groups.values()]
  return { shared: all.filter(({ length }) => length > 1), single: all.filter(({ length }) => length === 1).flat() }
}

async function winnersOfGroup(
  collection: Collection<MongoDoc>,
  group: PositionedChange[],
): Promise<PositionedChange[]> {
  const update = group[0]?.change.update as UpdateFilter<MongoDoc>
  const { matchedCount } = await collection.updateMany({ _id: { $in: group.map(({ change }) => change._id) } }, update)
  return matchedCount === group.length ? group : findApplied(collection, group)
}

async function winnersOfBulk(collection: Collection<MongoDoc>, round: PositionedChange[]): Promise<PositionedChange[]> {
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

function toBulkOperation({ _id, rev, update }: Change<RevisedDoc>): AnyBulkWriteOperation<MongoDoc> {
  if (rev === undefined) return { updateOne: { filter: { _id }, update: update as UpdateFilter<MongoDoc> } }
  // biome-ignore lint/suspicious/noThenProperty: MongoDB's word
  const hasRev = { $switch: { branches: [{ case: { $eq: ['$rev', rev] }, then: true }] } }
  return { updateOne: { filter: { _id, $expr: hasRev }, update: withRevIncrement(update) as UpdateFilter<MongoDoc> } }
}

const withRevIncrement = (update: Update<RevisedDoc>): Update<RevisedDoc> =>
  Array.isArray(update)
    ? [...update, { $set: { rev: { $add: ['$rev', 1] } } }]
    : { ...update, $inc: { ...update.$inc, rev: 1 } }

/** One that won and was removed since counts as lost: the document is gone either way. */
async function findApplied(collection: Collection<MongoDoc>, left: PositionedChange[]): Promise<PositionedChange[]> {
  const ids = left.map(({ change }) => change._id)
  const found = await collection.find({ _id: { $in: ids } }, { projection: { rev: 1 } }).toArray()
  const revs = new Map(found.map(doc => [doc._id, Number(doc.rev)]))
  return left.filter(({ change: { _id, rev } }) => {
    const now = revs.get(_id)
    return now !== undefined && (rev === undefined || now > rev)
  })
}

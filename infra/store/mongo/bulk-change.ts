// Conditional changes in one bulk. In: changes, each from a revision. Out: won or lost, by position.
//
// A bulk answers how many of its filters matched, not which. So a change is sent as a statement that fails on any other revision:
// MongoDB raises an error for a `$switch` without a matching branch, and an error carries its position. A change that neither failed
// nor matched was one of a missing document.
//
// Most changes carry the `$switch` in a computed update, see computed-change.ts. The others, and those that failed for the shape of their
// document perhaps, carry it in the filter.
import type { AnyBulkWriteOperation, Collection, UpdateFilter } from 'mongodb'
import type { Change, Doc, Operators, RevisedDoc, Update } from '../docs.ts'
import { computedChange } from './computed-change.ts'
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
  const statements = round.map(({ change }) => toStatement(change))
  const { winners, failed } = await run(
    collection,
    round,
    statements.map(({ operation }) => operation),
  )
  const unclear = [...failed].filter(at => statements[at]?.dependsOnShape).map(at => round[at] as PositionedChange<T>)
  if (unclear.length === 0) return winners
  const again = await run(
    collection,
    unclear,
    unclear.map(({ change }) => toFilteredOperation(change)),
  )
  return [...winners, ...again.winners]
}

/** `failed`: the places, in `round`, of changes whose statement failed. */
async function run<T extends Doc>(
  collection: Collection<MongoDoc>,
  round: PositionedChange<T>[],
  operations: AnyBulkWriteOperation<MongoDoc>[],
): Promise<{ winners: PositionedChange<T>[]; failed: ReadonlySet<number> }> {
  const failed = new Set<number>()
  let matched = 0
  try {
    matched = (await collection.bulkWrite(operations, { ordered: false })).matchedCount
  } catch (error) {
    const failure = bulkFailure(error, [NO_BRANCH_OF_SWITCH])
    matched = failure.matched
    for (const { index } of failure.refused) failed.add(index)
  }
  const left = round.filter((_, i) => !failed.has(i))
  return { winners: matched === left.length ? left : await findApplied(collection, left), failed }
}

interface Statement {
  operation: AnyBulkWriteOperation<MongoDoc>
  /** Whether it may fail on the right revision. */
  dependsOnShape: boolean
}

function toStatement<T extends Doc>(change: Change<T>): Statement {
  const { _id, rev, update } = change
  const computed = Array.isArray(update) ? null : computedChange(rev, update as Operators<RevisedDoc>)
  if (!computed) return { operation: toFilteredOperation(change), dependsOnShape: false }
  const { stage, dependsOnShape } = computed
  return { operation: { updateOne: { filter: { _id }, update: [stage] } }, dependsOnShape }
}

function toFilteredOperation<T extends Doc>({ _id, rev, update }: Change<T>): AnyBulkWriteOperation<MongoDoc> {
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

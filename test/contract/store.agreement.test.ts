// Runs both adapters on the same random documents, filters, updates and computed updates and compares their answers, errors included. The
// contract lists the cases that we rely on; this finds the cases that the contract forgot.
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { MongoClient } from 'mongodb'
import type { Doc, Docs, Filter, Pipeline, Sort, Update } from '../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { collection } from '../../infra/store/store.ts'
import { testClock } from '../support/clock.ts'
import { MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

interface Sample extends Doc {
  rev?: number
  s?: unknown
  t?: unknown
  a?: unknown
  b?: unknown
  n?: unknown
  o?: { c?: unknown }
}

const collections = {
  samples: collection<Sample>({
    indexes: [
      { fields: { s: 1, t: -1 } },
      { fields: { t: 1 }, partial: { t: { $exists: true } } },
      { fields: { 'o.c': 1 } },
    ],
    keepLatest: true,
  }),
}

const number = fc.constantFrom(0, 1, 2, 5, 0.5, -1)
const text = fc.constantFrom('', 'a', 'b', '5', '\uff5e', '\u{1f600}')
const scalar = fc.oneof(number, text, fc.boolean(), fc.constant(null))
const scalars = fc.array(scalar, { maxLength: 3 })
const objects = fc.array(fc.oneof(fc.record({ c: scalar }), fc.record({ d: scalar }), scalar), { maxLength: 3 })
const value = fc.oneof({ weight: 3, arbitrary: scalar }, scalars, fc.record({ c: fc.oneof(scalar, scalars) }), objects)
const samples = fc
  .array(
    fc.record(
      { s: scalar, t: scalar, a: value, b: value, n: fc.oneof(scalar, scalars), o: fc.record({ c: scalar }) },
      { requiredKeys: [] },
    ),
    { minLength: 1, maxLength: 15 },
  )
  .map(all => all.map((doc, i): Sample => ({ _id: `id${String(i).padStart(2, '0')}`, ...doc })))

const bound = fc.oneof(number, text)
const condition = fc.oneof(
  scalar,
  fc.record({ $in: scalars }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $gt: bound }),
  fc.record({ $lte: bound }),
  fc.record({ $gte: bound, $lt: bound }),
)
const on = <V>(paths: string[], values: fc.Arbitrary<V>) =>
  fc.tuple(fc.constantFrom(...paths), values).map(([path, each]): Record<string, V> => ({ [path]: each }))
const one = on(['s', 't', 'o.c', 'a', 'b', 'n', 'a.c', 'b.c', 'a.0', 'a.0.c', 'b.d'], condition)
const filter = fc
  .oneof(
    one,
    fc.tuple(one, one).map(([x, y]) => ({ ...x, ...y })),
    fc.array(one, { minLength: 1, maxLength: 3 }).map($or => ({ $or })),
  )
  .map(each => each as Filter<Sample>)
const sort = fc.constantFrom<Sort<Sample>>({}, { _id: -1 }, { s: 1, t: -1 }, { t: 1 }, { 'o.c': -1 })

const PATHS = ['a', 'b', 'n', 'a.c', 'b.c', 'a.0', 'b.0.c', 'x.y', 'a.c.e']
const pulled = fc.oneof(
  fc.record({ c: scalar }),
  fc.record({ c: fc.record({ $gte: bound }) }),
  fc.record({ c: fc.record({ $in: fc.array(text, { maxLength: 3 }) }) }),
)
const pushed = fc.oneof(
  fc.record({ $each: fc.array(value, { maxLength: 3 }) }),
  fc.record({ $each: scalars, $slice: fc.constantFrom(-2, 0, 1, 9) }),
)
const operators = fc.oneof(
  ...[
    ['$set', value] as const,
    ['$unset', fc.constant(true)] as const,
    ['$inc', number] as const,
    ['$max', number] as const,
    ['$push', pushed] as const,
    ['$addToSet', value] as const,
    ['$pull', pulled] as const,
  ].map(([operator, operands]) => on<unknown>(PATHS, operands).map(fields => ({ [operator]: fields }))),
)
const updates = fc
  .array(operators, { minLength: 1, maxLength: 2 })
  .map(parts => Object.assign({}, ...parts) as Update<Sample>)

const expression = fc.oneof(
  number,
  fc.constantFrom<unknown[]>(
    '$n',
    '$s',
    '$a.c',
    '$b',
    '$none',
    '$$REMOVE',
    ['$n', '$none'],
    { x: '$n', y: '$none' },
    { $add: ['$n', 1] },
    { $subtract: ['$s', '$t'] },
    { $multiply: ['$n', 2] },
    { $floor: '$n' },
    { $min: ['$n', 3] },
    { $max: ['$s', '$t', '$none'] },
    { $max: '$n' },
    { $eq: ['$s', '$t'] },
    { $ne: ['$none', null] },
    { $gt: ['$n', null] },
    { $gte: ['$b', '$a'] },
    { $not: ['$s'] },
    { $literal: '$n' },
    { $cond: ['$s', 1, 2] },
    { $cond: [{ $gt: ['$n', 2] }, '$a', '$b'] },
    { $ifNull: ['$s', '$t', 7] },
    { $in: ['$s', [1, null, 'a']] },
    { $size: '$n' },
    { $sum: '$n' },
    { $sum: ['$n', '$s', 2] },
    { $arrayElemAt: ['$n', 1] },
    { $arrayElemAt: ['$b', -1] },
    { $slice: ['$n', -2] },
    { $slice: ['$n', 0] },
    { $concatArrays: ['$n', [1]] },
    { $map: { input: '$n', in: { v: '$$this' } } },
    { $filter: { input: '$n', as: 'it', cond: { $gt: ['$$it', 0] } } },
    { $filter: { input: '$b', cond: '$$this.c' } },
  ),
)
// No path ends in a number: objects compare by the order of their members, and JavaScript puts members named by a number first.
const NAMED = PATHS.filter(path => !/\d/.test(path))
const set = fc.tuple(on([...NAMED, 'o.d'], expression), on(NAMED, expression))
const stage = fc.oneof(
  set.map(([x, y]) => ({ $set: { ...x, ...y } })),
  fc.constantFrom(...PATHS).map(path => ({ $unset: [path] })),
)
const pipelines = fc.array(stage, { minLength: 1, maxLength: 2 }).map(stages => stages as Pipeline)

const answer = (call: Promise<unknown>): Promise<unknown> => call.catch(() => 'refused')

onRealEngines('the store, embedded and on MongoDB', { MONGODB_URL }, () => {
  const url = MONGODB_URL ?? ''
  const database = `agreement_${randomUUID()}`
  const embedded = createEmbeddedStore({
    folder: createTemporaryFolder(),
    collections,
    clock: testClock(),
    strict: false,
  })
  const mongo = createMongoStore({ url, database, collections, strict: false })
  const [ours, theirs]: [Docs<Sample>, Docs<Sample>] = [embedded.docs('samples'), mongo.docs('samples')]
  after(async () => {
    await embedded.close()
    await mongo.close()
    const client = new MongoClient(url)
    await client.db(database).dropDatabase()
    await client.close()
  })
  const fill = (all: Sample[]) =>
    Promise.all(
      [ours, theirs].map(async docs => {
        await docs.remove({}, 1_000)
        await docs.insert(all)
      }),
    )
  const same = async (call: (docs: Docs<Sample>) => Promise<unknown>) =>
    expect(await answer(call(ours))).to.deep.equal(await answer(call(theirs)))
  const bounded = { numRuns: propertyRuns(35) }

  it('find and count the same', async () => {
    const query = fc.record({ filter, sort, limit: fc.integer({ min: 1, max: 20 }) })
    const property = fc.asyncProperty(
      samples,
      fc.array(query, { minLength: 1, maxLength: 8 }),
      async (all, queries) => {
        await fill(all)
        for (const { filter, sort, limit } of queries) {
          await same(docs => docs.find(filter, { sort, limit }))
          await same(docs => docs.count(filter))
          await same(docs => docs.count(filter, limit))
        }
      },
    )
    await fc.assert(property, bounded)
  })

  const updating = (update: fc.Arbitrary<Update<Sample>>) =>
    fc.asyncProperty(samples, fc.array(update, { minLength: 1, maxLength: 5 }), async (all, updates) => {
      await fill(all)
      for (const update of updates) for (const { _id } of all) await same(docs => docs.modify({ _id }, update))
    })
  it('apply operators the same', () => fc.assert(updating(updates), bounded))
  it('change from a revision the same', async () => {
    // MongoDB refuses an update that writes a path twice before it looks at the revision, so an old one writes one path only.
    const change = fc.oneof(
      fc.record({ update: updates, isOld: fc.constant(false) }),
      fc.record({ update: operators as fc.Arbitrary<Update<Sample>>, isOld: fc.constant(true) }),
    )
    const changes = fc.array(change, { minLength: 1, maxLength: 5 })
    const property = fc.asyncProperty(samples, changes, async (all, changes) => {
      await fill(all.map(doc => ({ ...doc, rev: 1 })))
      for (const { update, isOld } of changes)
        for (const { _id } of all) {
          const { rev = 0 } = (await theirs.get([_id])).get(_id) ?? {}
          await same(docs => docs.change([{ _id, rev: isOld ? rev - 1 : rev, update }]))
          await same(docs => docs.get([_id]))
        }
    })
    await fc.assert(property, bounded)
  })
  it('compute updates the same', () => fc.assert(updating(pipelines), bounded))
})

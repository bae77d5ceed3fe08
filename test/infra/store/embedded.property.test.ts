// Compares the store with the npm package mingo over a plain array, on random documents, updates, filters, sorts and limits.
import { expect } from 'chai'
import fc from 'fast-check'
import { Query } from 'mingo'
import type { Doc, Filter, Sort, Update } from '../../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { collection } from '../../../infra/store/store.ts'
import { testClock } from '../../support/clock.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

interface Sample extends Doc {
  a?: unknown
  b?: { c?: unknown } | null
  tags?: unknown
  plain?: unknown
}

const collections = {
  samples: collection<Sample>({
    indexes: [
      { fields: { a: 1 } },
      { fields: { 'b.c': 1, a: -1 } },
      { fields: { a: -1, 'b.c': 1 }, partial: { 'b.c': { $exists: true } } },
      { fields: { a: 1, 'b.c': -1 }, partial: { a: { $gte: 1 } } },
    ],
    keepLatest: true,
  }),
}

// Few and similar values, so that filters match; the limits of each type; no text above U+FFFF, which mingo orders by UTF-16.
const numbers = [-1, 0, 1, 2, 5, 0, 1, 0.1, 0.30000000000000004, 395206.6441567406, 2 ** 53, 2 ** 60, -1e300]
const number = fc.constantFrom(...numbers)
const text = fc.constantFrom('', '0', '1', '5', 'a', 'ab', 'b', 'é', 'null', "'", '"', 'a\u0000b', '\uffff')
const scalar = fc.oneof(number, text, fc.boolean(), fc.constant(null))
const list = fc.array(scalar, { maxLength: 3 })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const sample = fc.record({
  a: optional(scalar),
  b: optional(fc.oneof(fc.record({ c: optional(scalar) }), fc.constant(null))),
  tags: optional(fc.oneof(scalar, list)),
  plain: optional(scalar),
})
const id = (i: number) => `id${String(i).padStart(3, '0')}`
const samples = fc
  .array(sample, { maxLength: 20 })
  .map(all => all.map((doc, i) => JSON.parse(JSON.stringify({ _id: id(i), ...doc })) as Sample))

const bound = fc.oneof(number, text)
// One operator, or two ends of a range: with more, hardly any document matches.
const comparison = fc.oneof(
  fc.record({ $eq: scalar }),
  fc.record({ $in: list }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $gt: bound }),
  fc.record({ $gte: bound }),
  fc.record({ $lt: bound }),
  fc.record({ $lte: bound }),
  fc.record({ $gt: bound, $lt: bound }),
  fc.record({ $gte: bound, $lte: bound }),
)
const condition = fc.oneof(scalar, comparison)
const someId = fc.integer({ min: 0, max: 22 }).map(id)
const idCondition = fc.oneof(someId, fc.record({ $gt: someId }), fc.record({ $in: fc.array(someId, { maxLength: 4 }) }))
// One or two paths, mostly indexed ones, on which SQL alone decides; on the others the matcher does.
const members = fc.oneof(
  { weight: 4, arbitrary: fc.record({ a: condition }) },
  { weight: 3, arbitrary: fc.record({ a: condition, 'b.c': condition }) },
  { weight: 2, arbitrary: fc.record({ 'b.c': condition }) },
  { weight: 1, arbitrary: fc.record({ _id: idCondition, a: condition }) },
  { weight: 1, arbitrary: fc.record({ a: condition, tags: condition }) },
  { weight: 1, arbitrary: fc.record({ tags: condition }) },
  { weight: 1, arbitrary: fc.record({ plain: condition }) },
  { weight: 1, arbitrary: fc.constant({}) },
)
const filter = fc
  .tuple(members, fc.option(fc.array(members, { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 3 }))
  .map(([own, $or]) => ($or ? { ...own, $or } : own) as Filter<Sample>)
const sort = fc.constantFrom<Sort<Sample>>(
  {},
  { _id: -1 },
  { a: 1 },
  { a: -1 },
  { 'b.c': 1, a: -1 },
  { plain: -1, a: 1 },
)

const update = fc
  .oneof(
    fc.record({ $set: fc.record({ a: scalar }) }),
    fc.record({ $set: fc.record({ 'b.c': scalar }) }),
    fc.record({ $set: fc.record({ b: fc.oneof(fc.record({ c: optional(scalar) }), fc.constant(null)) }) }),
    fc.record({ $set: fc.record({ plain: scalar }) }),
    fc.record({ $unset: fc.constantFrom({ a: true }, { b: true }, { 'b.c': true }) }),
    fc.record({ $inc: fc.record({ a: fc.constantFrom(1, -1) }) }),
    fc.constantFrom([{ $set: { a: '$b.c' } }], [{ $set: { b: { c: '$a' } } }], [{ $unset: ['a'] }]),
  )
  .map(each => each as Update<Sample>)

const matching = (all: Sample[], filter: Filter<Sample>): Sample[] => {
  const query = new Query(filter)
  return all.filter(doc => query.test({ ...doc }))
}

const rank = (value: unknown): number =>
  value === null || value === undefined ? 0 : typeof value === 'number' ? 1 : typeof value === 'string' ? 2 : 3
const at = (doc: Sample, path: string): unknown => (path === 'b.c' ? doc.b?.c : doc[path as keyof Sample])

function byOrder(order: Sort<Sample>): (x: Sample, y: Sample) => number {
  const entries = Object.entries(order)
  const terms = '_id' in order ? entries : [...entries, ['_id', entries.at(-1)?.[1] ?? 1] as const]
  return (x, y) => {
    for (const [path, direction = 1] of terms) {
      const [p, q] = [at(x, path), at(y, path)]
      if (rank(p) !== rank(q)) return (rank(p) - rank(q)) * direction
      if (rank(p) > 0 && p !== q) return ((p as number) < (q as number) ? -1 : 1) * direction
    }
    return 0
  }
}

describe('the embedded store, on random documents and filters', () => {
  const folder = createTemporaryFolder()
  const store = createEmbeddedStore({ folder, collections, clock: testClock(), strict: false })
  const docs = store.docs('samples')
  after(() => store.close())
  const fill = async (all: Sample[]) => {
    await docs.remove({}, 1_000)
    await docs.insert(all)
  }
  const bounded = { numRuns: propertyRuns(150) }

  it('finds and counts what mingo finds, in order, up to the limit', async () => {
    const query = fc.record({ filter, sort, limit: fc.integer({ min: 1, max: 25 }) })
    const property = fc.asyncProperty(
      samples,
      fc.array(query, { minLength: 1, maxLength: 8 }),
      async (all, queries) => {
        await fill(all)
        for (const { filter, sort, limit } of queries) {
          const wanted = matching(all, filter).sort(byOrder(sort))
          expect(await docs.find(filter, { sort, limit })).to.deep.equal(wanted.slice(0, limit))
          expect(await docs.count(filter)).to.equal(wanted.length)
        }
      },
    )
    await fc.assert(property, bounded)
  })

  it('modifies and removes only what mingo finds', async () => {
    const property = fc.asyncProperty(samples, filter, fc.integer({ min: 1, max: 5 }), async (all, filter, limit) => {
      await fill(all)
      const wanted = matching(all, filter).map(doc => doc._id)
      const modified = await docs.modify(filter, { $set: { mark: true } as Partial<Sample> })
      if (wanted.length === 0) expect(modified).to.equal(null)
      else expect(wanted).to.include(modified?._id)
      const removed = await docs.remove(filter, limit)
      expect(removed).to.equal(Math.min(limit, wanted.length))
      const left = await docs.find({}, { sort: {}, limit: 100 })
      const gone = all.map(doc => doc._id).filter(each => !left.some(doc => doc._id === each))
      expect(gone).to.have.length(removed)
      expect(wanted).to.include.members(gone)
    })
    await fc.assert(property, bounded)
  })

  it('finds and counts what mingo finds, after updates of indexed fields', async () => {
    const property = fc.asyncProperty(
      samples,
      fc.array(fc.record({ _id: someId, update }), { maxLength: 30 }),
      fc.array(fc.record({ filter, sort }), { minLength: 1, maxLength: 8 }),
      async (all, updates, queries) => {
        await fill(all)
        for (const { _id, update } of updates) await docs.modify({ _id }, update).catch(refused)
        const stored = [...(await docs.get(all.map(doc => doc._id))).values()]
        for (const { filter, sort } of queries) {
          const wanted = matching(stored, filter).sort(byOrder(sort))
          expect(await docs.find(filter, { sort, limit: 25 })).to.deep.equal(wanted)
          expect(await docs.count(filter)).to.equal(wanted.length)
        }
      },
    )
    await fc.assert(property, bounded)
  })

  it('compares fractions to the last bit', async () => {
    const fraction = fc.double({ noNaN: true, noDefaultInfinity: true })
    const property = fc.asyncProperty(fraction, fraction, async (a, other) => {
      await fill([{ _id: 'x', a }])
      expect(await docs.count({ a })).to.equal(1)
      expect(await docs.count({ a: { $gte: a, $lte: a } })).to.equal(1)
      expect(await docs.count({ a: { $gt: a } })).to.equal(0)
      expect(await docs.count({ a: { $lt: a } })).to.equal(0)
      expect(await docs.count({ a: { $gt: other } })).to.equal(a > other ? 1 : 0)
    })
    await fc.assert(property, bounded)
  })
})

/** `$inc` of what is no number, for example. */
function refused(error: unknown): void {
  if (!(error instanceof TypeError)) throw error
}

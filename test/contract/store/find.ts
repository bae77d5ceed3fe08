import { expect } from 'chai'
import type { Filter } from '../../../infra/store/docs.ts'
import { ids, type StoreFixture, type Thing, things } from './collections.ts'

export function findCases({ things: docs, coded, counters, fresh }: StoreFixture): void {
  const LIMIT = 1_000

  /** Names of the values that a filter on `rank` finds. */
  describe('by a field of any type', () => {
    const values: Record<string, unknown> = {
      zero: 0,
      one: 1,
      five: 5,
      half: 0.5,
      textOne: '1',
      text5: '5',
      abc: 'abc',
      abd: 'abd',
      empty: '',
      yes: true,
      no: false,
      nil: null,
      none: undefined,
    }
    const cases: [string, Filter<Thing>['rank'], string[]][] = [
      ['a number', 5, ['five']],
      ['a number, not true', 1, ['one']],
      ['a text, not the number', '5', ['text5']],
      ['true, not 1', true, ['yes']],
      ['false, not 0', false, ['no']],
      ['null: null and missing', null, ['nil', 'none']],
      ['$eq', { $eq: 'abc' }, ['abc']],
      ['$in', { $in: [0, 'abc', 'gone'] }, ['zero', 'abc']],
      ['$in with null', { $in: [5, null] }, ['five', 'nil', 'none']],
      ['$in with booleans', { $in: [true, 0] }, ['yes', 'zero']],
      ['$in of nothing', { $in: [] }, []],
      ['$gt on numbers only', { $gt: 0 }, ['one', 'five', 'half']],
      ['$gte on numbers only', { $gte: 0 }, ['zero', 'one', 'five', 'half']],
      ['$lt on numbers only', { $lt: 1 }, ['zero', 'half']],
      ['$lte on numbers only', { $lte: 1 }, ['zero', 'half', 'one']],
      ['$gt on texts only', { $gt: '5' }, ['abc', 'abd']],
      ['$gte on texts only', { $gte: '' }, ['empty', 'textOne', 'text5', 'abc', 'abd']],
      ['$lt on texts only', { $lt: 'abd' }, ['empty', 'textOne', 'text5', 'abc']],
      ['a range with two ends', { $gt: 0, $lte: 1 }, ['half', 'one']],
      ['$exists: null exists', { $exists: true }, Object.keys(values).filter(name => name !== 'none')],
      ['$exists false', { $exists: false }, ['none']],
    ]
    let group: string
    before(async () => {
      group = fresh()
      await docs().insert(
        Object.entries(values).map(([name, rank]) => ({
          _id: `${group}-${name}`,
          rev: 1,
          group,
          rank,
          data: { rank },
        })),
      )
    })
    const named = (found: Thing[]) => ids(found).map(id => id.slice(group.length + 1))

    for (const [title, rank, names] of cases)
      it(title, async () => {
        // Once with a path that is indexed, once with one that is not.
        const byIndex = { group, rank } as Filter<Thing>
        const byReading = { group, 'data.rank': rank } as Filter<Thing>
        expect(named(await docs().find(byIndex, { sort: { rank: 1 }, limit: LIMIT }))).to.have.members(names)
        expect(named(await docs().find(byReading, { sort: { _id: 1 }, limit: LIMIT }))).to.have.members(names)
        expect(await docs().count(byIndex)).to.equal(names.length)
        expect(await docs().count(byReading)).to.equal(names.length)
      })

    it('sorts missing and null first, then numbers, then texts', async () => {
      const sorted = async (direction: 1 | -1) =>
        named(await docs().find({ group }, { sort: { rank: direction }, limit: LIMIT })).filter(
          name => name !== 'yes' && name !== 'no',
        )
      const expected = ['nil', 'none', 'zero', 'half', 'one', 'five', 'empty', 'textOne', 'text5', 'abc', 'abd']
      expect(await sorted(1)).to.deep.equal(expected)
      expect(await sorted(-1)).to.deep.equal(expected.reverse())
    })
  })

  it('counts no further than it is told', async () => {
    const group = fresh()
    await docs().insert(things(group, 5, () => ({ data: { rank: 1 } })))
    for (const filter of [{ group }, { group, 'data.rank': 1 }] satisfies Filter<Thing>[]) {
      expect(await docs().count(filter, 3)).to.equal(3)
      expect(await docs().count(filter, 5)).to.equal(5)
      expect(await docs().count(filter, 6)).to.equal(5)
    }
  })

  it('throws for a filter with an undefined member', async () => {
    const careless = { group: undefined } as unknown as Filter<Thing>
    const calls = [
      docs().find(careless, { sort: { _id: 1 }, limit: 1 }),
      docs().count(careless),
      docs().remove(careless, 1),
      docs().modify(careless, { $set: { n: 1 } }),
    ]
    for (const outcome of await Promise.allSettled(calls)) expect(outcome.status).to.equal('rejected')
  })

  it('reaches into nested objects by a dotted path', async () => {
    const group = fresh()
    const cities = ['Bern', 'Genf', 'Bern']
    await docs().insert(things(group, 4, i => (cities[i] ? { owner: { city: cities[i] } } : {})))
    const rankOf = async (city: string | null) =>
      (await docs().find({ group, 'owner.city': city }, { sort: { rank: -1 }, limit: LIMIT })).map(doc => doc.rank)
    expect(await rankOf('Bern')).to.deep.equal([2, 0])
    expect(await rankOf('Genf')).to.deep.equal([1])
    expect(await rankOf(null)).to.deep.equal([3])
  })

  it('joins members with and, branches of $or with or', async () => {
    const group = fresh()
    await docs().insert(things(group, 10, i => ({ n: i % 2 })))
    const ranks = async (filter: Filter<Thing>) =>
      (await docs().find(filter, { sort: { rank: 1 }, limit: LIMIT })).map(doc => doc.rank)
    expect(await ranks({ group, n: 1, rank: { $lt: 4 } })).to.deep.equal([1, 3])
    expect(await ranks({ group, $or: [{ rank: { $lt: 2 } }, { rank: 7 }] })).to.deep.equal([0, 1, 7])
    expect(await ranks({ group, n: 0, $or: [{ rank: 2 }, { rank: 3 }, { rank: { $gte: 8 } }] })).to.deep.equal([2, 8])
    const branches = [
      { group, rank: 9 },
      { group, rank: { $gt: 4, $lt: 6 } },
    ]
    expect(await ranks({ $or: branches })).to.deep.equal([5, 9])
    expect(await docs().count({ $or: branches })).to.equal(2)
  })

  it('finds a document once that several branches of $or match', async () => {
    const group = fresh()
    await docs().insert(things(group, 3))
    const filter: Filter<Thing> = {
      $or: [
        { group, rank: { $gte: 1 } },
        { group, rank: { $lte: 1 } },
      ],
    }
    expect(await docs().find(filter, { sort: { rank: 1 }, limit: LIMIT })).to.have.length(3)
    expect(await docs().count(filter)).to.equal(3)
  })

  it('sorts both ways, and equal documents by _id in the direction of the last field', async () => {
    const group = fresh()
    const all = things(group, 9, i => ({ rank: i % 3 }))
    await docs().insert([...all].reverse())
    const order = [0, 3, 6, 1, 4, 7, 2, 5, 8].map(i => all[i]?._id)
    expect(ids(await docs().find({ group }, { sort: { rank: 1 }, limit: LIMIT }))).to.deep.equal(order)
    expect(ids(await docs().find({ group }, { sort: { rank: -1 }, limit: LIMIT }))).to.deep.equal(order.reverse())
    expect(ids(await docs().find({ group }, { sort: { _id: -1 }, limit: LIMIT }))).to.deep.equal(ids(all).reverse())
    expect(ids(await docs().find({ group }, { sort: {}, limit: LIMIT }))).to.deep.equal(ids(all))
  })

  it('sorts by several fields, each in its own direction', async () => {
    const group = fresh()
    const all = things(group, 6, i => ({ owner: { city: i % 2 ? 'Bern' : 'Aarau' } }))
    await docs().insert(all)
    const order = [4, 2, 0, 5, 3, 1].map(i => all[i]?._id)
    const found = await docs().find({ group }, { sort: { 'owner.city': 1, rank: -1 }, limit: LIMIT })
    expect(ids(found)).to.deep.equal(order)
    const back = await docs().find({ group }, { sort: { 'owner.city': -1, rank: 1 }, limit: LIMIT })
    expect(ids(back)).to.deep.equal(order.reverse())
  })

  it('sorts text by code point', async () => {
    const group = fresh()
    const texts = ['B', 'a', 'é', '\uFF5E', '\u{1F600}']
    await docs().insert([...texts].reverse().map(rank => ({ _id: `${group}${rank}`, rev: 1, group, rank })))
    const found = await docs().find({ group }, { sort: { rank: 1 }, limit: LIMIT })
    expect(found.map(doc => doc.rank)).to.deep.equal(texts)
    expect(ids(await docs().find({ group }, { sort: { _id: 1 }, limit: LIMIT }))).to.deep.equal(ids(found))
  })

  it('answers the members that the caller reads, and no others', async () => {
    const group = fresh()
    await docs().insert(things(group, 2, () => ({ owner: { city: 'Bonn' } })))
    const only = ['rev', 'group', 'rank', 'owner.name'] as const
    const found = await docs().find({ group }, { sort: { rank: 1 }, limit: LIMIT, only })
    expect(found.map(({ owner, ...read }) => ({ read, city: owner?.city }))).to.deep.equal(
      things(group, 2).map(read => ({ read, city: undefined })),
    )
  })

  it('finds at most the limit, and nothing at limit 0', async () => {
    const group = fresh()
    const all = things(group, 5)
    await docs().insert(all)
    const found = (limit: number) => docs().find({ group }, { sort: { rank: 1 }, limit })
    expect(await found(2)).to.deep.equal(all.slice(0, 2))
    expect(await found(5)).to.have.length(5)
    expect(await found(0)).to.deep.equal([])
  })

  it('pages through equal documents by rank and _id without a gap or a repeat', async () => {
    const group = fresh()
    const all = things(group, 25, i => ({ rank: Math.floor(i / 10) }))
    await docs().insert(all)
    const seen: Thing[] = []
    for (let last: Thing | undefined; ; last = seen.at(-1)) {
      const rank = last?.rank as number
      const after: Filter<Thing> = last
        ? {
            $or: [
              { group, rank: { $gt: rank } },
              { group, rank, _id: { $gt: last._id } },
            ],
          }
        : { group }
      const page = await docs().find(after, { sort: { rank: 1 }, limit: 4 })
      if (page.length === 0) break
      seen.push(...page)
    }
    expect(ids(seen)).to.deep.equal(ids(all))
  })

  it('finds by _id: one, several, a range', async () => {
    const group = fresh()
    const all = ids(
      await docs()
        .insert(things(group, 5))
        .then(() => things(group, 5)),
    )
    const found = async (_id: NonNullable<Filter<Thing>['_id']>) =>
      ids(await docs().find({ _id }, { sort: { _id: 1 }, limit: LIMIT }))
    expect(await found(all[2] ?? '')).to.deep.equal([all[2]])
    expect(await found({ $in: [all[3] ?? '', all[0] ?? '', 'nobody'] })).to.deep.equal([all[0], all[3]])
    expect(await found({ $gt: all[1] ?? '', $lt: `${group}-x` })).to.deep.equal(all.slice(2))
  })

  it('takes very long lists: by _id, by an index, and to remove', async () => {
    const group = fresh()
    await docs().insert(things(group, 3))
    const strangers = Array.from({ length: 40_000 }, (_, i) => `${group}-none-${i}`)
    const page = { sort: {}, limit: 10 }
    const [first, ...others] = ids(things(group, 3))
    expect(ids(await docs().find({ _id: { $in: [...strangers, first ?? ''] } }, page))).to.deep.equal([first])
    expect(await docs().find({ group: { $in: [...strangers, group] } }, page)).to.have.length(3)
    expect(await docs().remove({ _id: { $in: [...strangers, ...others] } }, 50_000)).to.equal(2)
  })

  it('finds due documents by a partial index, earliest first', async () => {
    const group = fresh()
    const base = 4_000_000_000_000
    const all = things(group, 6, i => (i % 2 ? { due_at: base - i } : {}))
    await docs().insert(all)
    const found = await docs().find({ due_at: { $gte: base - 5, $lte: base } }, { sort: { due_at: 1 }, limit: LIMIT })
    expect(found).to.deep.equal([all[5], all[3], all[1]])
  })

  it('finds by a unique index', async () => {
    const code = fresh()
    await coded().insert([{ _id: `${code}-id`, code }])
    expect(ids(await coded().find({ code }, { sort: { code: 1 }, limit: 2 }))).to.deep.equal([`${code}-id`])
    expect(ids(await coded().find({ code }, { sort: {}, limit: 2 }))).to.deep.equal([`${code}-id`])
  })

  it('compares a Date with purge_at', async () => {
    const group = fresh()
    const [early, late] = [new Date(Date.UTC(2100, 0, 1)), new Date(Date.UTC(2101, 0, 1))]
    await counters().insert([
      { _id: `${group}a`, group, purge_at: early },
      { _id: `${group}b`, group, purge_at: late },
    ])
    const found = await counters().find({ group, purge_at: late }, { sort: {}, limit: 5 })
    expect(ids(found)).to.deep.equal([`${group}b`])
  })

  it('counts matching documents, and answers 0 for none', async () => {
    const group = fresh()
    await docs().insert(things(group, 300, i => ({ n: i % 3 })))
    expect(await docs().count({ group })).to.equal(300)
    expect(await docs().count({ group, n: 1 })).to.equal(100)
    expect(await docs().count({ group: fresh() })).to.equal(0)
  })

  it('finds with certainty what it finds without', async () => {
    const group = fresh()
    await docs().insert(things(group, 3))
    const page = { sort: { rank: -1 }, limit: 2 } as const
    const found = await docs().find({ group }, { ...page, certain: true })
    expect(found).to.have.length(2)
    expect(found).to.deep.equal(await docs().find({ group }, page))
  })
}

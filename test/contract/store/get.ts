import { expect } from 'chai'
import { ids, type StoreFixture, things } from './collections.ts'

export function getCases({ things: docs, counters, fresh }: StoreFixture): void {
  const shapes: Record<string, unknown> = {
    'text in any script': 'Zürich 東京 🙂 \u2028 "quoted" \\ \n\t',
    'a NUL character': 'a\u0000b',
    'an empty string': '',
    'a long string': 'x'.repeat(100_000),
    'whole numbers': [0, 1, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 1_893_456_000_000, Number.MAX_SAFE_INTEGER],
    fractions: [0.1, -2.5, 1e-7, 1e21, 1.7976931348623157e308, 5e-324],
    booleans: [true, false],
    'null, alone and in a list': [null, { a: null }],
    'empty objects and lists': { a: {}, b: [], c: [[], {}] },
    'deep nesting': { a: { b: [{ c: { d: [[1, [2]], { e: 'f' }] } }] } },
    'field names of all sorts': {
      '+41 79 123': 1,
      'a b': 2,
      é: 3,
      '"': 4,
      "'": 5,
      '[0]': 6,
      '0': 7,
      constructor: 8,
      toString: 9,
      '': 10,
      'x.y': 11,
      '\\': 12,
      '🙂': 13,
    },
    'a number as text': '00123',
  }
  for (const [title, data] of Object.entries(shapes))
    it(`returns ${title} unchanged`, async () => {
      const doc = { _id: fresh(), rev: 1, group: 'shapes', data }
      await docs().insert([doc])
      expect((await docs().get([doc._id])).get(doc._id)).to.deep.equal(doc)
    })

  it('reads with certainty what it reads without, one document or several, and leaves missing ones out', async () => {
    const group = fresh()
    const inserted = things(group, 3)
    await docs().insert(inserted)
    const wanted = [...ids(inserted), 'missing', ids(inserted)[0] ?? '']
    expect(await docs().get(wanted, { certain: true })).to.deep.equal(await docs().get(wanted))
    expect(await docs().get([], { certain: true })).to.deep.equal(new Map())
  })

  it('drops members that are undefined, at every depth', async () => {
    const _id = fresh()
    await docs().insert([{ _id, rev: 1, group: _id, rank: undefined, data: { a: undefined, b: [{ c: undefined }] } }])
    const doc = (await docs().get([_id])).get(_id)
    expect(doc).to.deep.equal({ _id, rev: 1, group: _id, data: { b: [{}] } })
    expect(doc).to.not.have.property('rank')
  })

  it('returns purge_at as a Date', async () => {
    const _id = fresh()
    const purge_at = new Date(Date.UTC(2100, 5, 1, 12, 30, 15, 250))
    await counters().insert([{ _id, n: 1, purge_at }])
    const doc = (await counters().get([_id])).get(_id)
    expect(doc?.purge_at).to.be.instanceOf(Date)
    expect(doc).to.deep.equal({ _id, n: 1, purge_at })
  })

  it('takes any text as an id', async () => {
    const group = fresh()
    const odd = ['+4179', 'a b', 'é🙂', "it's", '"', '%', '_', '$x', 'a.b', 'x'.repeat(900)].map(id => group + id)
    await docs().insert(odd.map(_id => ({ _id, rev: 1, group })))
    expect([...(await docs().get(odd)).keys()]).to.have.members(odd)
  })

  it('leaves out missing ids', async () => {
    const group = fresh()
    await docs().insert(things(group, 1))
    expect(ids((await docs().get([`${group}-00000`, 'nobody'])).values())).to.deep.equal([`${group}-00000`])
    expect((await docs().get(['nobody'])).size).to.equal(0)
  })

  it('answers 2 000 ids at once, and a repeated id once', async () => {
    const all = things(fresh(), 2_000)
    await docs().insert(all)
    const found = await docs().get([...ids(all), ...ids(all)])
    expect(found.size).to.equal(2_000)
    expect(found.get(all[1_999]?._id ?? '')).to.deep.equal(all[1_999])
  })

  it('answers an empty map for no ids', async () => {
    expect((await docs().get([])).size).to.equal(0)
  })

  it('gives every caller its own copy, unless the collection keeps the latest', async () => {
    const _id = fresh()
    const given = { _id, group: _id, data: [1] }
    await counters().insert([given])
    given.data.push(2)
    const read = async () => (await counters().get([_id])).get(_id)?.data as number[]
    ;(await read()).push(3)
    expect(await read()).to.deep.equal([1])
  })
}

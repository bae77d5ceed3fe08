import { expect } from 'chai'
import { type AddressListDoc, listId } from '../../../../services/domain/address-lists/documents.ts'
import {
  BadList,
  createRunImport,
  importLease,
  type ListContent,
  newVersion,
} from '../../../../services/domain/address-lists/imports.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import {
  chunksIn,
  classesIn,
  contentOfLines,
  crashingStore,
  importDeps,
  listBeingImported,
  listsIn,
  manyRanges,
  stableFieldsOf,
} from '../../../support/address-lists.ts'
import { testClock } from '../../../support/clock.ts'
import { eventuallyAdvancing } from '../../../support/eventually.ts'
import { eachStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

const clock = testClock()
const ID = listId('abusive', 'some')

const run = (store: CountersignStore, list: AddressListDoc, content: ListContent | Error): Promise<void> =>
  createRunImport(importDeps(store, clock))(list, async () => {
    if (content instanceof Error) throw content
    return content
  })

const put = async (store: CountersignStore, ...lines: string[]): Promise<void> =>
  run(store, await listBeingImported(store, { now: clock.now() }), contentOfLines(...lines))

const stored = async (store: CountersignStore): Promise<AddressListDoc> =>
  (await store.docs('ip_lists').get([ID])).get(ID) as AddressListDoc

/** More ranges than fit into one chunk. */
const MANY = 70_000

eachStore('an import', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })

  it('replaces the ranges of the version before', async () => {
    await put(store, '8.8.8.0/24', '2a01:4f8::/32')
    const asked = ['8.8.8.8', '2a01:4f8::1', '9.9.9.9', '2a02::1']
    expect(await classesIn(store, asked)).to.deep.equal(['abusive', 'abusive', null, null])
    await put(store, '9.9.9.9', '10.0.0.0/8', 'what?', '2a02::/16')
    expect(await classesIn(store, asked)).to.deep.equal([null, null, 'abusive', 'abusive'])
    expect(await stored(store)).to.deep.include({
      status: 'ready',
      problem: null,
      importing: null,
      refreshed_at: clock.now(),
      counts: { ranges: 2, entries: 4, ignored: 1, bad: 1, bad_lines: [3] },
    })
    expect(await stored(store)).not.to.have.property('due_at')
    expect(await chunksIn(store), 'one per family').to.have.lengthOf(2)
  })

  it('of an empty text leaves an empty list', async () => {
    await put(store, '8.8.8.8')
    await put(store, '')
    expect(await classesIn(store, ['8.8.8.8'])).to.deep.equal([null])
    expect(await stored(store)).to.deep.include({ status: 'ready', chunks: 0 })
    expect(await chunksIn(store)).to.deep.equal([])
  })

  it('of many ranges is loaded again completely', async () => {
    const ranges = manyRanges(MANY)
    await put(store, ...ranges, '2a01::1')
    expect((await stored(store)).chunks).to.equal(4)
    expect(await classesIn(store, ['11.0.0.0', ranges.at(-1) ?? '', '2a01::1', '11.0.0.1'])).to.deep.equal([
      'abusive',
      'abusive',
      'abusive',
      null,
    ])
    expect(new Set(await classesIn(store, ranges))).to.deep.equal(new Set(['abusive']))
  })

  it('saves its progress and renews its lease', async () => {
    const list = await listBeingImported(store, { now: clock.now() })
    const seen: AddressListDoc[] = []
    const watching = interceptWrites(store, {
      after: async call => call === 'ip_lists.modify' && seen.push(await stored(store)),
    })
    let time = clock.now()
    const passing = { ...clock, now: () => (time += 200) }
    const text = contentOfLines(...manyRanges(50_000))
    await createRunImport(importDeps(watching, passing))(list, async () => text)
    const progress = seen.flatMap(({ importing: under }) => under ?? [])
    expect(progress.length).to.be.greaterThan(4)
    expect(progress.some(({ lines }) => lines > 1_000 && lines < 50_000)).to.equal(true)
    expect(new Set(progress.slice(1).map(one => one.total_bytes))).to.deep.equal(
      new Set([text === 'unchanged' ? 0 : text.bytes.length]),
    )
    for (const { due_at, importing: under } of seen) if (under) expect(due_at).to.be.greaterThan(clock.now())
    expect(seen.at(-1)).to.deep.include({ status: 'ready', importing: null })
  })

  for (const [what, bad, why] of [
    ['a page that is not a list', contentOfLines('<html>', '<body>', '8.8.8.8'), 'most of its lines are no addresses'],
    ['a source that fails', new BadList('its source answered 500'), 'its source answered 500'],
  ] as const)
    it(`of ${what} fails with the reason, and keeps the version before`, async () => {
      await put(store, '8.8.8.8')
      const before = await stored(store)
      await run(store, await listBeingImported(store, { now: clock.now() }), bad)
      const after = await stored(store)
      expect(after).to.deep.include({ status: 'failed', importing: null, version: before.version })
      expect(after.problem).to.include(why)
      expect(after.counts, 'of what counts').to.deep.equal(before.counts)
      expect(await classesIn(store, ['8.8.8.8'])).to.deep.equal(['abusive'])
      expect(await chunksIn(store)).to.have.lengthOf(1)
    })

  it('of a URL without public addresses fails, and keeps the version before', async () => {
    await put(store, '8.8.8.8')
    const source = { kind: 'url', url: 'https://lists.example/a', etag: null } as const
    const list = await listBeingImported(store, { now: clock.now(), source, refresh_seconds: 600 })
    await run(store, list, { bytes: new TextEncoder().encode('# maintenance\n10.0.0.0/8'), source })
    const after = await stored(store)
    expect(after).to.deep.include({ status: 'failed', due_at: clock.now() + 300_000 })
    expect(after.problem).to.include('no public addresses')
    expect(await classesIn(store, ['8.8.8.8'])).to.deep.equal(['abusive'])
  })

  for (const [what, lines, shown] of [
    ['all of IPv4', ['8.8.8.8', '0.0.0.0/0'], 'failed'],
    ['most of IPv4, in parts', ['0.0.0.0/1', '128.0.0.0/2'], 'failed'],
    ['all of assigned IPv6', ['2000::/3'], 'failed'],
    ['much, but less than half', ['16.0.0.0/4', '2400::/8', '4000::/2'], 'ready'],
  ] as const)
    it(`of a URL with ${what} is ${shown}, and the same text from an operator is ready`, async () => {
      const source = { kind: 'url', url: 'https://lists.example/a', etag: null } as const
      const bytes = new TextEncoder().encode(lines.join('\n'))
      await run(store, await listBeingImported(store, { now: clock.now(), source }), { bytes, source })
      expect((await stored(store)).status).to.equal(shown)
      await put(store, ...lines)
      expect((await stored(store)).status).to.equal('ready')
    })

  const source = { kind: 'url', url: 'https://lists.example/a', etag: null } as const
  const fetchList = async (on: CountersignStore, name: string, ...lines: string[]): Promise<void> => {
    const bytes = new TextEncoder().encode(lines.join('\n'))
    await run(on, await listBeingImported(on, { now: clock.now(), name, source }), { bytes, source })
  }
  const statuses = async (store: CountersignStore) =>
    Object.fromEntries((await listsIn(store)).map(({ name, status }) => [name, status]))

  it('of a URL fails when the class as a whole would hold most addresses', async () => {
    await put(store, '0.0.0.0/1')
    await fetchList(store, 'url', '9.9.9.9', '16.0.0.0/4')
    await fetchList(store, 'url', '128.0.0.0/1')
    expect(await statuses(store)).to.deep.equal({ some: 'ready', url: 'failed' })
    const problem = (await listsIn(store)).find(({ name }) => name === 'url')?.problem
    expect(problem).to.include('with the others of its class')
    expect(await classesIn(store, ['9.9.9.9', '129.0.0.1']), 'the version before').to.deep.equal(['abusive', null])
    await fetchList(store, 'url', '0.0.0.0/2', '9.9.9.9')
    expect(await statuses(store), 'addresses that are in both count once').to.deep.include({ url: 'ready' })
  })

  it('of a URL counts a text that is not imported yet', async () => {
    const lease = importLease(newVersion(clock.now()), clock.now(), { v4: 0.5, v6: 0 })
    await listBeingImported(store, { now: clock.now(), ...lease })
    await fetchList(store, 'url', '128.0.0.0/1')
    expect(await statuses(store)).to.deep.equal({ some: 'importing', url: 'failed' })
  })

  it('of a URL does not count lists that are confirmed', async () => {
    const lists = store.docs('ip_lists')
    await put(store, '0.0.0.0/1')
    await lists.modify({ _id: ID }, { $set: { source: { kind: 'given', digest: '', confirmed: true } } })
    await fetchList(store, 'url', '128.0.0.0/1')
    expect(await statuses(store)).to.deep.equal({ some: 'ready', url: 'ready' })
  })

  it('of a URL is checked one at a time', async () => {
    let ended = false
    const both = Promise.all([fetchList(store, 'one', '0.0.0.0/1'), fetchList(store, 'two', '128.0.0.0/1')])
    const end = both.finally(() => {
      ended = true
    })
    // An import that waits for the other's lease waits on the fake clock.
    await eventuallyAdvancing(() => expect(ended).to.equal(true), clock, 25)
    await end
    expect(Object.values(await statuses(store)).sort()).to.deep.equal(['failed', 'ready'])
  })

  it('of a URL loads no version of another list while their shares are less than half together', async () => {
    await put(store, '16.0.0.0/4')
    const chunks = Object.assign(Object.create(store.docs('ip_chunks')), { get: () => expect.fail('loaded') })
    const docs = (name: string) => (name === 'ip_chunks' ? chunks : store.docs(name as 'ip_lists'))
    await fetchList({ ...store, docs } as CountersignStore, 'url', '32.0.0.0/4')
    expect(await statuses(store)).to.deep.equal({ some: 'ready', url: 'ready' })
  })

  it('that has lost its lease to another changes nothing, and leaves no chunks', async () => {
    await put(store, '8.8.8.8')
    const early = await listBeingImported(store, { now: clock.now() })
    let overtaken = false
    const watching = interceptWrites(store, {
      async before(call) {
        if (call !== 'ip_chunks.insert' || overtaken) return
        overtaken = true
        await put(store, '9.9.9.9')
      },
    })
    await run(watching, early, contentOfLines('7.7.7.7'))
    expect(overtaken).to.equal(true)
    expect(await classesIn(store, ['7.7.7.7', '8.8.8.8', '9.9.9.9'])).to.deep.equal([null, null, 'abusive'])
    expect(await chunksIn(store)).to.have.lengthOf(1)
  })

  it('does not restore a list that was removed meanwhile', async () => {
    const list = await listBeingImported(store, { now: clock.now() })
    const watching = interceptWrites(store, {
      before: call => call === 'ip_chunks.insert' && store.docs('ip_lists').remove({ _id: ID }, 1),
    })
    await run(watching, list, contentOfLines('7.7.7.7'))
    expect([await listsIn(store), await chunksIn(store)]).to.deep.equal([[], []])
  })

  it('leaves the complete old version or the complete new one after a crash at any write', async () => {
    const ranges = manyRanges(MANY)
    await put(store, '8.8.8.8')
    const whole = crashingStore(store, Number.POSITIVE_INFINITY, 'after')
    await run(whole.store, await listBeingImported(store, { now: clock.now() }), contentOfLines(...ranges))
    expect(whole.writes()).to.be.greaterThan(4)
    const ends = new Set<string>()
    for (let nth = 1; nth <= whole.writes(); nth += 1)
      for (const when of ['before', 'after'] as const) {
        await put(store, '8.8.8.8')
        const dying = crashingStore(store, nth, when)
        await run(dying.store, await listBeingImported(store, { now: clock.now() }), contentOfLines(...ranges))
        expect(dying.died(), `write ${nth}`).to.equal(true)
        await stableFieldsOf(store)
        const seen = await classesIn(store, ['8.8.8.8', ranges[0] ?? '', ranges[MANY - 1] ?? ''])
        ends.add(JSON.stringify(seen))
      }
    expect([...ends].sort()).to.deep.equal(['["abusive",null,null]', '[null,"abusive","abusive"]'])
    await put(store, '9.9.9.9')
    expect(await classesIn(store, ['8.8.8.8', '9.9.9.9', ranges[0] ?? ''])).to.deep.equal([null, 'abusive', null])
  })
})

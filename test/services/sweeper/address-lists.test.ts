import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { ForbiddenTarget, Lost, type OutboundRequest, type OutboundResponse } from '../../../infra/outbound/outbound.ts'
import { type AddressListDoc, listId } from '../../../services/domain/address-lists/documents.ts'
import { IMPORT_LEASE_MS } from '../../../services/domain/address-lists/imports.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { createAddressListSweeps } from '../../../services/sweeper/address-lists.ts'
import { chunksIn, classesIn, listBeingImported, listsIn } from '../../support/address-lists.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const URL = 'https://lists.example/abusive.txt?license=secret'
const ID = listId('abusive', 'some')

type Respond = (request: OutboundRequest) => Promise<OutboundResponse>

const answer = (status: number, text: string, headers: Record<string, string> = {}): OutboundResponse => ({
  status,
  headers,
  body: Buffer.from(text),
})

onEmbeddedStore('sweeping address lists', fresh => {
  let clock: TestClock
  let store: CountersignStore
  let requests: OutboundRequest[]
  let respond: Respond
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
    requests = []
    respond = async () => answer(200, '8.8.8.8')
  })

  const sweeper = (on = store) => {
    const captured = createCapturedLog()
    const request: Respond = given => {
      requests.push(given)
      return respond(given)
    }
    const { sweeps, stop } = createAddressListSweeps({ store: on, outbound: { request }, clock, log: captured.log })
    const sweep = async (name: 'ip_lists' | 'ip_chunks', partitions = [0, 1]) => sweeps[name]?.(partitions)
    return { sweep, stop, captured }
  }
  const insertDueList = (more: Partial<AddressListDoc> = {}) =>
    listBeingImported(store, {
      now: clock.now(),
      source: { kind: 'url', url: URL, etag: null },
      status: 'waiting',
      importing: null,
      due_at: clock.now(),
      ...more,
    })
  const storedList = async () => (await store.docs('ip_lists').get([ID])).get(ID) as AddressListDoc
  const untilStatus = (status: AddressListDoc['status']) =>
    eventually(async () => {
      const list = await storedList()
      expect(list.status).to.equal(status)
      expect(list.importing).to.equal(null)
      return list
    })

  it('fetches a list once when its URL was put, and again when its refresh is due', async () => {
    await insertDueList({ refresh_seconds: 3_600 })
    const { sweep } = sweeper()
    await sweep('ip_lists')
    await sweep('ip_lists')
    const list = await untilStatus('ready')
    expect(requests.map(({ method, url, maxBytes }) => [method, url, maxBytes])).to.deep.equal([
      ['GET', URL, 32 * 1024 * 1024 + 1],
    ])
    expect(list).to.deep.include({ refreshed_at: clock.now(), due_at: clock.now() + 3_600_000, problem: null })
    expect(await classesIn(store, ['8.8.8.8'])).to.deep.equal(['abusive'])
    respond = async () => answer(200, '9.9.9.9')
    await clock.advance(3_599_999)
    await sweep('ip_lists')
    expect(requests).to.have.lengthOf(1)
    await clock.advance(1)
    await sweep('ip_lists')
    await eventually(async () => expect((await storedList()).refreshed_at).to.equal(clock.now()))
    expect(await classesIn(store, ['8.8.8.8', '9.9.9.9'])).to.deep.equal([null, 'abusive'])
  })

  it('is done with the first partition, and by one of several sweepers that race', async () => {
    await insertDueList()
    await sweeper().sweep('ip_lists', [1, 2, 3])
    expect(requests).to.deep.equal([])
    await Promise.all(Array.from({ length: 5 }, () => sweeper().sweep('ip_lists')))
    await untilStatus('ready')
    expect(requests).to.have.lengthOf(1)
  })

  it('sends the ETag of the last answer, and keeps the list when it has not changed', async () => {
    await insertDueList({ refresh_seconds: 60 })
    respond = async () => answer(200, '8.8.8.8', { etag: '"v1"' })
    const { sweep } = sweeper()
    await sweep('ip_lists')
    const { version } = await untilStatus('ready')
    respond = async () => answer(304, '')
    await clock.advance(60_000)
    await sweep('ip_lists')
    await eventually(async () => expect((await storedList()).refreshed_at).to.equal(clock.now()))
    expect(requests.map(({ headers }) => headers['if-none-match'])).to.deep.equal([undefined, '"v1"'])
    expect(await storedList()).to.deep.include({ version, status: 'ready', due_at: clock.now() + 60_000 })
    expect(await classesIn(store, ['8.8.8.8'])).to.deep.equal(['abusive'])
  })

  for (const [what, failing, why] of [
    ['answers with an error', async () => answer(500, '9.9.9.9'), 'answered 500'],
    ['redirects', async () => answer(302, '', { location: 'http://169.254.169.254/' }), 'answered 302'],
    ['answers 304 to a first request', async () => answer(304, ''), 'answered 304'],
    ['compresses', async () => answer(200, 'x', { 'content-encoding': 'gzip' }), 'compressed'],
    ['breaks off', async () => answer(200, '9.9.9.9', { 'content-length': '70' }), 'before it was complete'],
    ['answers with an HTML page', async () => answer(200, '<html>\n<body>'), 'no addresses'],
    ['is empty', async () => answer(200, ''), 'no public addresses'],
    ['has a private address', () => Promise.reject(new ForbiddenTarget('not a public address')), 'not a public'],
    ['closes the connection', () => Promise.reject(new Lost('lists.example: reset')), 'reset'],
  ] as [string, Respond, string][])
    it(`keeps the former version of a source that ${what}, shows why without its key, and tries again`, async () => {
      await insertDueList({ refresh_seconds: 3_600 })
      const { sweep, captured } = sweeper()
      await sweep('ip_lists')
      const { version } = await untilStatus('ready')
      respond = failing
      await clock.advance(3_600_000)
      await sweep('ip_lists')
      const failed = await untilStatus('failed')
      expect(failed).to.deep.include({ version, due_at: clock.now() + 300_000 })
      expect(failed.problem).to.include(why)
      expect(captured.output()).to.include('ip_list.failed').and.not.to.include('secret')
      expect(await classesIn(store, ['8.8.8.8', '9.9.9.9'])).to.deep.equal(['abusive', null])
    })

  it('fails when a source does not answer in time', async () => {
    await insertDueList()
    respond = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Lost(String(signal.reason)))))
    await sweeper().sweep('ip_lists')
    await eventually(() => expect(requests).to.have.lengthOf(1))
    await clock.advance(60_000)
    expect((await untilStatus('failed')).problem).to.include('no answer within 60 s')
  })

  it('stops during a fetch when told to, and leaves the list to the next process', async () => {
    await insertDueList()
    respond = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Lost('aborted'))))
    const { sweep, stop } = sweeper()
    await sweep('ip_lists')
    await eventually(() => expect(requests).to.have.lengthOf(1))
    await stop()
    expect((await storedList()).status).to.equal('importing')
    respond = async () => answer(200, '8.8.8.8')
    await clock.advance(IMPORT_LEASE_MS)
    await sweeper().sweep('ip_lists')
    await untilStatus('ready')
  })

  it('reports an uploaded text that was lost with its process', async () => {
    await listBeingImported(store, { now: clock.now() })
    const { sweep } = sweeper()
    await sweep('ip_lists')
    expect((await storedList()).status).to.equal('importing')
    await clock.advance(IMPORT_LEASE_MS)
    await sweep('ip_lists')
    const list = await untilStatus('failed')
    expect(list.problem).to.include('put the list again')
    expect(list).not.to.have.property('due_at')
    expect(requests).to.deep.equal([])
  })

  it('removes old chunks that no list names, and no others', async () => {
    await insertDueList()
    const { sweep } = sweeper()
    await sweep('ip_lists')
    const { version } = await untilStatus('ready')
    const [chunk] = await store.docs('ip_chunks').find({}, { sort: {}, limit: 1 })
    const copies = async (list: string, made: string) =>
      store.docs('ip_chunks').insert([0, 1].map(nth => ({ ...chunk, _id: `${list}/${made}/00000${nth}` }) as never))
    const old = String(version).replace(/.{4}$/, '0000')
    await copies(ID, old)
    await copies('abusive:gone', old)
    await sweep('ip_chunks')
    expect(await chunksIn(store), 'too young').to.have.lengthOf(5)
    await clock.advance(3_600_000)
    const under = await listBeingImported(store, { now: clock.now(), name: 'under' })
    await copies(under._id, under.importing?.id ?? '')
    await sweep('ip_chunks', [1])
    expect(await chunksIn(store), 'not the first partition').to.have.lengthOf(7)
    await sweep('ip_chunks')
    expect(await chunksIn(store)).to.deep.equal([
      `${ID}/${version}/000000`,
      `${under._id}/${under.importing?.id}/000000`,
      `${under._id}/${under.importing?.id}/000001`,
    ])
    expect(await listsIn(store)).to.have.lengthOf(2)
  })
})

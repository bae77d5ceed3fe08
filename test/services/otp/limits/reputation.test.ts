import { expect } from 'chai'
import { Unavailable } from '../../../../infra/unavailable.ts'
import type { AddressClass } from '../../../../services/domain/address-lists/documents.ts'
import { createRunImport } from '../../../../services/domain/address-lists/imports.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createCurrentClassifier } from '../../../../services/otp/limits/reputation.ts'
import {
  chunksIn,
  classesIn,
  contentOfLines,
  importDeps,
  listBeingImported,
  manyRanges,
} from '../../../support/address-lists.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { overrideDocs } from '../../../support/override-docs.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

/** More than fit into one chunk. */
const MANY = 70_000

async function put(store: CountersignStore, lines: string[], of: AddressClass = 'abusive'): Promise<void> {
  const clock = testClock()
  const list = await listBeingImported(store, { now: clock.now(), class: of, name: of })
  await createRunImport(importDeps(store, clock))(list, async () => contentOfLines(...lines))
}

onEmbeddedStore('the current address classifier', fresh => {
  const open = (store: CountersignStore, at = testClock()) => {
    const captured = createCapturedLog()
    const [lists, chunks] = [store.docs('ip_lists'), store.docs('ip_chunks')]
    return { view: createCurrentClassifier({ lists, chunks, clock: at, log: captured.log }), at, captured }
  }

  it('sees a new version of a list within five seconds, and reads each version once', async () => {
    const store = await fresh()
    let read = 0
    const counting = overrideDocs(store, 'ip_chunks', ({ get }) => ({
      get(ids) {
        read += 1
        return get(ids)
      },
    }))
    await put(store, ['8.8.8.8'])
    const { view, at } = open(counting)
    expect((await view())('8.8.8.8')).to.equal('abusive')
    expect(read).to.equal(1)
    await at.advance(5_000)
    await view()
    expect(read, 'the version is the same').to.equal(1)
    await put(store, ['9.9.9.9'])
    await at.advance(5_000)
    const now = await view()
    expect([now('8.8.8.8'), now('9.9.9.9'), read]).to.deep.equal([null, 'abusive', 2])
  })

  it('uses the whole old or the whole new version when a list is replaced while it is read', async () => {
    const store = await fresh()
    const [old, next] = [manyRanges(MANY), manyRanges(MANY, 12)]
    await put(store, old)
    let swapped = false
    const interrupted = overrideDocs(store, 'ip_lists', ({ find }) => ({
      // Replaces the list after it was read and before its chunks are.
      async find(...asked) {
        const found = await find(...asked)
        if (!swapped) await put(store, next)
        swapped = true
        return found
      },
    }))
    const view = await open(interrupted).view()
    expect(new Set(old.map(view))).to.deep.equal(new Set([null]))
    expect(new Set(next.map(view))).to.deep.equal(new Set(['abusive']))
  })

  it('keeps the previous version and logs a warning when a version is damaged', async () => {
    const store = await fresh()
    await put(store, ['8.8.8.8'])
    const { view, at, captured } = open(store)
    await view()
    await put(store, ['9.9.9.9'])
    for (const _id of await chunksIn(store)) await store.docs('ip_chunks').remove({ _id }, 1)
    await at.advance(5_000)
    const now = await view()
    expect([now('8.8.8.8'), now('9.9.9.9')]).to.deep.equal(['abusive', null])
    expect(captured.output()).to.include('ip_list.unreadable')
    expect((await open(store).view())('9.9.9.9'), 'one that never had it').to.equal(null)
  })

  it('does not make callers wait for a slow list or for a store that is away', async () => {
    const store = await fresh()
    await put(store, ['8.8.8.8'])
    let slow = Promise.resolve()
    const slowly = overrideDocs(store, 'ip_chunks', ({ get }) => ({ get: ids => slow.then(() => get(ids)) }))
    const { view, at, captured } = open(slowly)
    await view()
    await put(store, ['9.9.9.9'])
    let go = (): void => {}
    slow = new Promise(resolve => {
      go = resolve
    })
    await at.advance(5_000)
    const answers: (AddressClass | null)[] = []
    const asked = view().then(now => answers.push(now('8.8.8.8'), now('9.9.9.9')))
    await at.advance(249)
    expect(answers).to.deep.equal([])
    await at.advance(1)
    await asked
    expect(answers).to.deep.equal(['abusive', null])
    go()
    await eventually(async () => expect((await view())('9.9.9.9'), 'without looking again').to.equal('abusive'))

    await put(store, ['7.7.7.7'])
    slow = Promise.reject(new Unavailable('the store is away'))
    slow.catch(() => {})
    await at.advance(5_000)
    expect((await view())('9.9.9.9')).to.equal('abusive')
    expect(captured.output()).to.include('the store is away')
    slow = Promise.resolve()
    await at.advance(5_000)
    expect((await view())('7.7.7.7')).to.equal('abusive')
  })

  it('throws until all lists were read once', async () => {
    const store = await fresh()
    await put(store, ['8.8.8.8'])
    const away = () => Promise.reject(new Unavailable('the store is away'))
    let isAway = true
    const { view } = open(overrideDocs(store, 'ip_chunks', ({ get }) => ({ get: ids => (isAway ? away() : get(ids)) })))
    expect(await view().catch((error: unknown) => error)).to.be.instanceOf(Unavailable)
    isAway = false
    expect((await view())('8.8.8.8')).to.equal('abusive')
  })

  it('returns the worst class of an address', async () => {
    const store = await fresh()
    await put(store, ['8.8.0.0/16', '9.9.9.9'], 'tor')
    await put(store, ['8.8.8.8'])
    await put(store, ['8.8.0.0/16'], 'vpn')
    expect(await classesIn(store, ['8.8.8.8', '8.8.8.9', '9.9.9.9', '1.1.1.1'])).to.deep.equal([
      'abusive',
      'vpn',
      'tor',
      null,
    ])
  })
})

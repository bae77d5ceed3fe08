// Endpoints that cannot be read for a while, as when a key is missing: their events wait, and go out by themselves.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { eachStore } from '../../support/stores.ts'
import { expectStatus, SECONDS, type WebhookWorld, webhookWorld } from '../../support/webhooks.ts'

eachStore('an endpoint whose secret does not open for a while', fresh => {
  let store: CountersignStore
  let world: WebhookWorld
  let sealed: string
  let reads: number
  beforeEach(async () => {
    store = await fresh()
    reads = 0
    world = await webhookWorld(countingReads(store))
    sealed = (await world.endpoint('app_blog')).secrets[0]?.sealed ?? ''
  })
  afterEach(() => world.stop())

  const countingReads = (counted: CountersignStore): CountersignStore => ({
    ...counted,
    docs(name) {
      const docs = counted.docs(name)
      if (name !== 'webhooks') return docs
      const get: typeof docs.get = ids => {
        reads += 1
        return docs.get(ids)
      }
      return { ...docs, get }
    },
  })

  const seal = (secret: string) =>
    store.docs('webhooks').modify({ _id: 'app_blog' }, { $set: { 'secrets.0.sealed': secret } })

  it('gets what happened meanwhile by itself once it opens, no attempt spent; others get theirs all the time', async () => {
    world.answering('app_blog', () => 500)
    const tried = await world.happen('app_blog')
    await world.quiet()
    await seal('not sealed at all')
    world.answering('app_blog', () => 200)
    await world.pass(6 * SECONDS)
    const [blog, shop] = await Promise.all([world.happen('app_blog'), world.happen('app_shop')])
    await world.quiet()
    await expectStatus(world, shop, 'delivered')
    await world.pass(100 * SECONDS)
    expect(await expectStatus(world, tried, 'pending')).to.include({ tries: 1 })
    expect(await expectStatus(world, blog, 'pending')).to.include({ tries: 0 })
    await seal(sealed)
    await world.pass(75 * SECONDS)
    expect(await world.soon(() => expectStatus(world, tried, 'delivered'))).to.include({ round: 1, tries: 2 })
    expect(await world.soon(() => expectStatus(world, blog, 'delivered'))).to.include({ round: 1, tries: 1 })
    expect((await world.endpoint('app_blog')).status).to.equal('active')
    await world.pass(75 * SECONDS)
    expect((await world.endpoint('app_blog')).drain_at, 'nothing is left to remember').to.equal(undefined)
  })

  it('is looked at, and complained of, once in a while', async () => {
    await seal('not sealed at all')
    await Promise.all(Array.from({ length: 50 }, () => world.happen('app_blog')))
    await world.pass(70 * SECONDS)
    reads = 0
    const complaints = () => world.log.lines().filter(({ msg }) => msg === 'endpoint.unreadable').length
    const before = complaints()
    await world.pass(240 * SECONDS)
    expect(reads).to.be.within(2, 8)
    expect(complaints() - before).to.be.within(2, 4)
    expect(world.calls).to.deep.equal([])
  })

  it('keeps its events when it is paused as well, until somebody enables it', async () => {
    await world.control.pause('app_blog')
    await seal('not sealed at all')
    const id = await world.happen('app_blog')
    await world.quiet()
    await expectStatus(world, id, 'held')
    await seal(sealed)
    await world.pass(75 * SECONDS)
    await expectStatus(world, id, 'held')
    await world.control.enable('app_blog')
    await world.soon(() => expectStatus(world, id, 'delivered'))
  })
})

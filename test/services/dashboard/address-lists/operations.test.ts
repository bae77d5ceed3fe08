import { expect } from 'chai'
import { importLease, newVersion } from '../../../../services/domain/address-lists/imports.ts'
import { applyBootstrap, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import { chunksIn, classesIn, listBeingImported, listsIn } from '../../../support/address-lists.ts'
import { type Answer, closeAdmins, errorPaths, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { eventually } from '../../../support/eventually.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

const URL = 'https://lists.example/vpn.txt?license=secret'

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON
const listNamed = ({ body }: Answer, name: string): any =>
  body.items.find((list: { name: string }) => list.name === name)

onEmbeddedStore('/ip-lists', fresh => {
  let admin: TestAdmin
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
  })
  afterEach(closeAdmins)

  const put = (...lists: object[]) => admin.ask('PUT', '/ip-lists', { lists })
  const ready = (...names: string[]) =>
    eventually(async () => {
      const answer = await admin.get('/ip-lists')
      for (const name of names) expect(listNamed(answer, name)).to.include({ status: 'ready', progress: null })
      return answer
    })

  it('imports ranges, and shows the counts and the version', async () => {
    const answer = await put({ class: 'abusive', cidrs: ['45.95.147.9/24', '10.0.0.0/8', '45.95.147.1'] })
    expect(answer.status).to.equal(200)
    expect(listNamed(answer, 'default')).to.deep.include({ class: 'abusive', source: { kind: 'given' } })
    const shown = listNamed(await ready('default'), 'default')
    expect(shown).to.deep.include({ class: 'abusive', ranges: 1, ignored: 1, bad: 0, bad_lines: [], problem: null })
    expect(shown.refreshed_at).to.equal(new Date(admin.clock.now()).toISOString())
    expect(await classesIn(admin.store, ['45.95.147.200'])).to.deep.equal(['abusive'])
  })

  it('removes lists that a PUT does not name, and keeps lists that it names without content', async () => {
    await put({ class: 'vpn', cidrs: ['8.8.8.8'] }, { class: 'tor', cidrs: ['9.9.9.9'] })
    await eventually(async () =>
      expect(await classesIn(admin.store, ['8.8.8.8', '9.9.9.9'])).to.deep.equal(['vpn', 'tor']),
    )
    await put({ class: 'tor' }, { class: 'proxy', name: 'more', cidrs: ['7.7.7.7'] })
    await ready('more')
    expect(await classesIn(admin.store, ['8.8.8.8', '9.9.9.9', '7.7.7.7'])).to.deep.equal([null, 'tor', 'proxy'])
    expect((await put()).body.items).to.deep.equal([])
    await eventually(async () => expect(await chunksIn(admin.store)).to.deep.equal([]))
  })

  it('neither imports nor records content that has not changed', async () => {
    await put({ class: 'vpn', cidrs: ['8.8.8.8', '9.9.9.9'] })
    const before = await ready('default')
    const after = await put({ class: 'vpn', text: '8.8.8.8\n9.9.9.9' })
    expect(after.body).to.deep.equal(before.body)
    expect((await admin.get('/audit')).body.items).to.have.lengthOf(1)
  })

  it('does not change the lists of the bootstrap file', async () => {
    const file = { ip_lists: [{ class: 'abusive', cidr: '45.95.147.0/24' }] }
    await applyBootstrap(readBootstrap(JSON.stringify(file)), admin)
    await put()
    expect(listNamed(await admin.get('/ip-lists'), 'bootstrap')).to.deep.include({
      class: 'abusive',
      source: { kind: 'bootstrap' },
      ranges: 1,
      status: 'ready',
    })
  })

  it('makes a URL due for fetching at once and by schedule, and shows it without its query', async () => {
    const answer = await put({ class: 'vpn', url: URL, refresh_seconds: 3_600 })
    expect(listNamed(answer, 'default')).to.deep.include({
      status: 'waiting',
      refresh_seconds: 3_600,
      version: null,
      source: { kind: 'url', url: 'https://lists.example/vpn.txt?…' },
    })
    const due = async () => (await admin.store.docs('ip_lists').get(['vpn:default'])).get('vpn:default')
    expect(await due()).to.deep.include({ due_at: admin.clock.now(), source: { kind: 'url', url: URL, etag: null } })
    await admin.clock.advance(1_000)
    await put({ class: 'vpn' })
    expect((await due())?.due_at, 'only named').to.equal(admin.clock.now() - 1_000)
    await put({ class: 'vpn', refresh_seconds: null })
    expect(await due()).to.deep.include({ due_at: admin.clock.now(), refresh_seconds: null })
    const audit = JSON.stringify((await admin.get('/audit')).body)
    expect(audit).not.to.include('secret')
  })

  const MOST: [what: string, form: 'text' | 'cidrs', ranges: string[]][] = [
    ['all of IPv4', 'text', ['8.8.8.8', '0.0.0.0/0']],
    ['most of IPv4, in parts', 'text', ['0.0.0.0/1', '128.0.0.0/2']],
    ['all of IPv6', 'text', ['::/0']],
    ['all of assigned IPv6', 'cidrs', ['2000::/3']],
    ['all of IPv4, mapped', 'cidrs', ['::ffff:0:0/96']],
  ]
  for (const [what, form, ranges] of MOST)
    it(`asks to confirm a list with ${what}, given as ${form}`, async () => {
      const content = form === 'text' ? { text: `# all\r\n${ranges.join('\r\n')}\r\n` } : { cidrs: ranges }
      const list = { class: 'abusive', name: 'all', ...content }
      const refused = await put({ class: 'vpn', cidrs: ['8.8.8.8'] }, list)
      expect([refused.status, refused.body.type]).to.deep.equal([422, 'ValidationError'])
      expect(errorPaths(refused)).to.deep.equal([`lists.1.${form}`])
      expect(refused.body.errors[0].message).to.include('"confirm": true')
      expect((await put({ ...list, confirm: false })).status).to.equal(422)
      expect((await admin.get('/ip-lists')).body.items, 'nothing was changed').to.deep.equal([])
      expect((await put({ ...list, confirm: true })).status).to.equal(200)
      expect(listNamed(await ready('all'), 'all')).to.include({ problem: null })
    })

  it('asks to confirm nothing of much less than half, or of reserved addresses', async () => {
    const text = ['16.0.0.0/4', '0.0.0.0/8', '10.0.0.0/8', '224.0.0.0/3', '2400::/8', '4000::/2', 'fc00::/7'].join('\n')
    expect((await put({ class: 'abusive', text })).status).to.equal(200)
    await ready('default')
  })

  describe('of a class whose lists hold most addresses together', () => {
    const half = (name: string, more: object = {}) => ({
      class: 'abusive',
      name,
      cidrs: [name === 'a' ? '0.0.0.0/1' : '128.0.0.0/1'],
      ...more,
    })
    const expectRefusal = (answer: Answer, path: string) => {
      expect([answer.status, answer.body.type]).to.deep.equal([422, 'ValidationError'])
      expect(errorPaths(answer)).to.deep.equal([path])
      expect(answer.body.errors[0].message).to.include('with the others of its class')
    }

    for (const form of ['text', 'cidrs'] as const)
      it(`asks to confirm one of two lists, given as ${form}`, async () => {
        const list = (name: string, ...ranges: string[]) => ({
          class: 'abusive',
          name,
          ...(form === 'text' ? { text: ranges.join('\n') } : { cidrs: ranges }),
        })
        const [a, b] = [list('a', '0.0.0.0/2', '64.0.0.0/3'), list('b', '128.0.0.0/1')]
        expectRefusal(await put({ class: 'vpn', cidrs: [] }, a, b), `lists.2.${form}`)
        expect((await admin.get('/ip-lists')).body.items, 'nothing was changed').to.deep.equal([])
        expect((await put(a, { ...b, class: 'vpn' })).status, 'another class').to.equal(200)
        expect((await put(a, { ...b, confirm: true })).status).to.equal(200)
        await ready('a', 'b')
      })

    it('names each list that holds most alone', async () => {
      const list = (name: string, cidr: string) => ({ class: 'abusive', name, cidrs: [cidr] })
      const refused = await put(list('a', '::/0'), list('b', '8.8.8.8'), list('c', '0.0.0.0/0'))
      expect(errorPaths(refused)).to.deep.equal(['lists.0.cidrs', 'lists.2.cidrs'])
    })

    it('counts stored lists that it keeps, and not those that it removes or replaces', async () => {
      await put(half('a'))
      await ready('a')
      expectRefusal(await put({ class: 'abusive', name: 'a' }, half('b')), 'lists.1.cidrs')
      expect((await put(half('a', { cidrs: ['200.1.1.1'] }), half('b'))).status, 'replaced').to.equal(200)
      await ready('a', 'b')
      expect((await put(half('a'))).status, 'removed').to.equal(200)
    })

    it('counts a stored list that is still being imported', async () => {
      const now = admin.clock.now()
      const lease = importLease(newVersion(now), now, { v4: 0.5, v6: 0 })
      await listBeingImported(admin.store, { now, name: 'a', ...lease })
      expectRefusal(await put({ class: 'abusive', name: 'a' }, half('b')), 'lists.1.cidrs')
    })

    it('stores what a text holds before it answers, so that the next PUT counts it', async () => {
      const { store } = admin
      const shares: unknown[] = []
      const keepShare = async () => shares.push((await listsIn(store)).map(({ importing }) => importing?.share))
      admin = await startAdmin(
        interceptWrites(store, { after: async call => call === 'ip_lists.insert' && (await keepShare()) }),
      )
      await put(half('a'))
      await ready('a')
      await put({ class: 'abusive', name: 'a' }, half('b', { confirm: true }))
      expect(shares, 'a confirmed text does not count').to.deep.equal([[{ v4: 0.5, v6: 0 }], [undefined, undefined]])
    })

    it('counts the stored list when the new text of it cannot be imported', async () => {
      await put(half('a'))
      await ready('a')
      const bad = { class: 'abusive', name: 'a', text: '<html>\n<body>' }
      expectRefusal(await put(bad, half('b')), 'lists.1.cidrs')
    })

    it('counts the list of the bootstrap file', async () => {
      const file = { ip_lists: [{ class: 'abusive', cidr: '0.0.0.0/1' }] }
      await applyBootstrap(readBootstrap(JSON.stringify(file)), admin)
      expectRefusal(await put(half('b')), 'lists.0.cidrs')
    })

    it('counts addresses once that are in several lists', async () => {
      await put(half('a'))
      await ready('a')
      const inside = { class: 'abusive', name: 'inside', cidrs: ['0.0.0.0/2'] }
      expect((await put({ class: 'abusive', name: 'a' }, inside)).status).to.equal(200)
    })

    it('remembers what was confirmed, until it is put without', async () => {
      const [a, b] = [
        { class: 'abusive', name: 'a' },
        { class: 'abusive', name: 'b' },
      ]
      await put(half('a'), half('b', { confirm: true }))
      await ready('a', 'b')
      const more = { class: 'abusive', name: 'more', cidrs: ['8.8.8.8'] }
      expect((await put(a, b, more)).status).to.equal(200)
      expectRefusal(await put(a, half('b')), 'lists.1.cidrs')
      expect((await put(half('a', { confirm: true }), half('b'))).status, 'another is confirmed').to.equal(200)
      await ready('a', 'b')
      expect((await put(a, b, { ...more, cidrs: ['200.1.1.1'] })).status).to.equal(200)
    })

    it('accepts one half of two PUTs at once that keep each other’s', async () => {
      const small = (name: string) => ({ class: 'abusive', name, cidrs: [name === 'a' ? '8.8.8.8' : '9.9.9.9'] })
      await put(small('a'), small('b'))
      await ready('a', 'b')
      const answers = await Promise.all([
        put(half('a'), { class: 'abusive', name: 'b' }),
        put({ class: 'abusive', name: 'a' }, half('b')),
      ])
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 422])
    })
  })

  it('reports only the first bad ranges of thousands, and keeps what it has', async () => {
    await put({ class: 'abusive', name: 'kept', cidrs: ['8.8.8.8'] })
    expect(errorPaths(await put({ class: 'vpn', cidrs: Array(9_000).fill('x') }))).to.have.lengthOf(20)
    expect((await admin.get('/ip-lists')).body.items).to.have.lengthOf(1)
  })
})

import { expect } from 'chai'
import { openAccount } from '../../../services/domain/money/batches.ts'
import { closeAdmins, errorPaths, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const newCompany = (_id: string) => ({ _id, name: _id, ...openAccount(_id, 0, 0), created_at: 0, rev: 0 })

onEmbeddedStore('lists', fresh => {
  let admin: TestAdmin
  const ids = Array.from({ length: 120 }, (_, at) => `cmp_${String(at).padStart(3, '0')}`)

  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    const companies = ids.map(newCompany)
    await admin.store.docs('companies').insert(companies)
    const apps = ids.map((id, at) => ({
      _id: `app_${id}`,
      company_id: at < 60 ? 'cmp_000' : 'cmp_001',
      name: id,
      settings: {},
      created_at: 0,
      rev: 0,
    }))
    await admin.store.docs('apps').insert(apps)
  })
  afterEach(closeAdmins)

  async function walk(path: string, limit: number): Promise<string[][]> {
    const pages: string[][] = []
    let cursor: string | null = null
    do {
      const join = path.includes('?') ? '&' : '?'
      const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await admin.get(`${path}${join}limit=${limit}${next}`)
      pages.push(body.items.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor
    } while (cursor !== null)
    return pages
  }

  it('have fifty items per page by default, each once and in order, and no empty page at the end', async () => {
    expect((await admin.get('/companies')).body.items).to.have.length(50)
    const pages = await walk('/companies', 40)
    expect(pages.map(page => page.length)).to.deep.equal([40, 40, 40])
    expect(pages.flat()).to.deep.equal(ids)
  })

  it('contain only the items of their owner', async () => {
    expect((await walk('/companies/cmp_000/apps', 25)).flat()).to.deep.equal(ids.slice(0, 60).map(id => `app_${id}`))
  })

  it('end at a mebibyte where items are large, and yield each item', async () => {
    const text = `{code}${'x'.repeat(49_000)}`
    const email = Object.fromEntries(['de', 'en', 'es', 'fr'].map(tag => [tag, { text: '{code}', html: text }]))
    for (const id of ids.slice(0, 12))
      await admin.store.docs('apps').modify({ _id: `app_${id}` }, { $set: { settings: { texts: { email } } } })
    const records = ids.slice(0, 60).map((name, at) => ({
      _id: `aud_${name}`,
      at: 0,
      who: 'ada',
      company_id: 'cmp_000',
      action: 'app.change',
      target: 'app',
      outcome: 'done' as const,
      before: null,
      after: { at, text: 'x'.repeat(30_000) },
    }))
    await admin.store.docs('audit').insert(records)
    for (const [path, total] of [
      ['/companies/cmp_000/apps', 60],
      ['/audit', 60],
    ] as const) {
      const { body } = await admin.get(`${path}?limit=100`)
      expect(JSON.stringify(body.items).length, path).to.be.within(0.8 * 2 ** 20, 1.01 * 2 ** 20)
      const pages = await walk(path, 100)
      expect(pages.length, path).to.be.above(1)
      expect(new Set(pages.flat()).size, path).to.equal(total)
      expect(pages.flat(), path).to.have.length(total)
    }
  })

  it('neither repeat nor hide an item when others are added or removed between two pages', async () => {
    const first = (await admin.get('/companies?limit=10')).body
    await admin.store.docs('companies').remove({ _id: { $in: ['cmp_003', 'cmp_009'] } }, 2)
    await admin.store.docs('companies').insert([newCompany('cmp_0005')])
    const second = (await admin.get(`/companies?limit=2&cursor=${first.next_cursor}`)).body
    expect(second.items.map(({ id }: { id: string }) => id)).to.deep.equal(['cmp_010', 'cmp_011'])
  })

  it('refuse a cursor that was changed, or made for another list', async () => {
    const cursor: string = (await admin.get('/companies?limit=1')).body.next_cursor
    const other: string = (await admin.get('/companies/cmp_000/apps?limit=1')).body.next_cursor
    const last = cursor.at(-1) === 'A' ? 'B' : 'A'
    for (const wrong of [`${cursor.slice(0, -1)}${last}`, `${cursor}A`, other])
      expect(errorPaths(await admin.get(`/companies?cursor=${encodeURIComponent(wrong)}`)), wrong).to.deep.equal([
        'cursor',
      ])
    expect((await admin.get(`/companies?cursor=${cursor}`)).status).to.equal(200)
  })
})

// Lists that come in one page, unless that would be large.
import { expect } from 'chai'
import { getCountries } from 'libphonenumber-js'
import { HOUR_MS } from '../../../infra/time.ts'
import { firstThatFit } from '../../../services/dashboard/pages.ts'
import { hourOf, newTally } from '../../../services/domain/stats/contribution.ts'
import { addCount, cellOf } from '../../../services/domain/stats/counts.ts'
import { newHour } from '../../../services/domain/stats/hours-and-days.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { storeFacts } from '../../support/route-facts.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const MIB = 2 ** 20

describe('a list without pages', () => {
  it('has the first items that fit into a mebibyte, and the first one in any case', () => {
    const items = Array.from({ length: 100 }, (_, nth) => `${nth}${'x'.repeat(30_000)}`)
    expect(firstThatFit(items)).to.deep.equal(items.slice(0, 34))
    expect(firstThatFit(items.slice(0, 5))).to.have.length(5)
    expect(firstThatFit(['x'.repeat(2 * MIB), 'y'])).to.have.length(1)
  })
})

onEmbeddedStore('a large list', fresh => {
  let admin: TestAdmin
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    app = (await createTenant(admin)).app
  })
  afterEach(closeAdmins)

  /** Reads it to its end. Each page but the last is nearly as large as may be. */
  async function walk<Row>(path: string): Promise<Row[]> {
    const rows: Row[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const join = path.includes('?') ? '&' : '?'
      const { status, body } = await admin.get(
        `${path}${cursor === null ? '' : `${join}cursor=${encodeURIComponent(cursor)}`}`,
      )
      expect(status, JSON.stringify(body).slice(0, 500)).to.equal(200)
      const length = JSON.stringify(body.items).length
      if (body.next_cursor === null) expect(length).to.be.below(1.01 * MIB)
      else expect(length).to.be.within(0.9 * MIB, 1.01 * MIB)
      rows.push(...body.items)
      cursor = body.next_cursor
      pages += 1
    } while (cursor !== null)
    expect(pages).to.be.above(1)
    return rows
  }

  const put = async (name: string, config?: object): Promise<void> => {
    const body = config ? { type: 'http', channel: 'sms', config } : { type: 'sandbox', channel: 'sms' }
    expect((await admin.ask('PUT', `/apps/${app}/providers/${name}`, body)).status).to.equal(201)
  }
  const numbered = (count: number): string[] => Array.from({ length: count }, (_, nth) => `p${nth + 10}`)

  it('of statistics goes on with the row behind the last one', async () => {
    const [hours, names] = [31 * 24, [...numbered(6), '?']]
    const last = hourOf(admin.clock.now())
    const docs = Array.from({ length: hours }, (_, ago) => {
      const tally = newTally()
      for (const name of names) addCount(cellOf(tally.provider, name), 'started', ago + 1)
      return newHour({ app_id: app, mode: 'live', start: last - ago * HOUR_MS }, tally, {})
    })
    await admin.store.docs('stats_hours').insert(docs)
    const since = new Date(last - (hours - 1) * HOUR_MS).toISOString()
    const rows = await walk<{ bucket: string; provider: string | null; started: number }>(
      `/apps/${app}/stats?by=provider&since=${since}`,
    )
    const expected = Array.from({ length: hours }, (_, nth) =>
      [...numbered(6), null].map(name => [
        new Date(Date.parse(since) + nth * HOUR_MS).toISOString(),
        name,
        hours - nth,
      ]),
    )
    expect(rows.map(({ bucket, provider, started }) => [bucket, provider, started])).to.deep.equal(expected.flat())
  })

  it('of routes goes on with the place behind the last one', async () => {
    for (const name of numbered(20)) await put(name)
    const facts = getCountries().map(country => ({ provider: 'p10', country, messages: 10 }))
    await storeFacts(admin.store, app, admin.clock.now(), facts)
    const rows = await walk<{ country: string; provider: string }>(`/apps/${app}/routes`)
    const expected = facts.flatMap(({ country }) => numbered(20).map(name => `${country} ${name}`))
    expect(rows.map(({ country, provider }) => `${country} ${provider}`)).to.have.members(expected)
    expect(rows).to.have.length(expected.length)
  })
})

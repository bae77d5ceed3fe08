// Lists as CSV files: the same rows and filters as the list, for the same caller, streamed.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Router } from '@koa/router'
import { expect } from 'chai'
import type { Context } from 'koa'
import { z } from 'zod'
import { MORE_ROWS } from '../../../infra/csv.ts'
import { createHttpShell } from '../../../infra/http/shell.ts'
import { newId } from '../../../infra/ids.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { operatorPrincipal } from '../../../services/dashboard/access.ts'
import type { AdminDeps } from '../../../services/dashboard/admin-deps.ts'
import { page } from '../../../services/dashboard/answers.ts'
import { columnsOf, csvLines, linesSchema, MAX_CSV_ROWS } from '../../../services/dashboard/csv-export.ts'
import { mountOperations, operation } from '../../../services/dashboard/operation.ts'
import { pageOf } from '../../../services/dashboard/page-schema.ts'
import { pageQuery } from '../../../services/dashboard/pages.ts'
import { newEvent } from '../../../services/domain/webhooks/new-event.ts'
import { ADMIT_ALL, closeAdmins, createTenant, startAdmin, type TestAdmin, TOKENS } from '../../support/admin-api.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { csvItems, parseCsv } from '../../support/csv.ts'
import { userBrowser } from '../../support/dashboard-session.ts'
import { createGate } from '../../support/gate.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { type ServedApp, serveApp } from '../../support/serve-app.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const CSV = { headers: { Accept: 'text/csv' } }
const NUMBER = '+447911123456'

const eventOf = (owner: { company: string; app: string }, at: number) =>
  newEvent(
    {
      _id: newId('evt', at),
      app_id: owner.app,
      company_id: owner.company,
      mode: 'live',
      type: 'otp.approved',
      payload: { otp_id: 'otp_1', status: 'approved' },
      created_at: at,
      purge_at: new Date(at + 1e10),
    },
    'unsent',
  )

const SCHEMA = pageOf(
  'TestPage',
  z.object({ id: z.int(), by: z.object({ kind: z.string() }).nullable(), tags: z.array(z.string()).optional() }),
)

/** A list of this many items. */
function listOf(length: number) {
  const asked: number[] = []
  const readPage = async ({ cursor, limit }: { cursor?: string | undefined; limit: number }) => {
    asked.push(limit)
    const from = Number(cursor ?? 0)
    const items = Array.from({ length: Math.min(limit, length - from) }, (_, at) => ({ id: from + at, by: null }))
    const next = from + items.length
    return { items, next_cursor: next < length ? String(next) : null }
  }
  return { asked, readPage }
}

onEmbeddedStore('lists as CSV', fresh => {
  let admin: TestAdmin
  let actor: TestActor
  let owner: { company: string; app: string }
  beforeEach(async () => {
    const store = await fresh()
    actor = await startOtpActor(store)
    admin = await startAdmin(store, { clock: actor.clock })
    owner = await createTenant(admin)
  })
  afterEach(async () => {
    await closeAdmins()
    await actor.close()
  })

  const csv = (path: string) => admin.ask('GET', path, undefined, CSV)

  it('have the rows and the filters of the list, in a file with the name of the list', async () => {
    await actor.send({ ...owner, recipient: NUMBER })
    await actor.send({ ...owner, recipient: 'ann@example.com' })
    await admin.ask('POST', `/companies/${owner.company}/credit`, { micros: 5_000_000, note: '=HYPERLINK("x")' })
    await admin.ask('POST', `/companies/${owner.company}/credit`, { micros: -1_000_000, note: 'a transfer' })
    await admin.store.docs('events').insert([0, 1].map(ms => eventOf(owner, admin.clock.now() + ms)))
    const lists = [
      [`/verifications?app_id=${owner.app}`, 'verifications', 2],
      [`/apps/${owner.app}/verifications`, 'verifications', 2],
      [`/apps/${owner.app}/verifications?channel=email`, 'verifications', 1],
      [`/companies/${owner.company}/ledger`, 'ledger', 2],
      [`/apps/${owner.app}/events`, 'events', 2],
      [`/audit?company_id=${owner.company}&action=company.credit`, 'audit', 2],
    ] as const
    for (const [path, name, count] of lists) {
      const { items } = (await admin.get(path)).body
      const { status, headers, body } = await csv(path)
      expect([status, headers.get('content-type')], path).to.deep.equal([200, 'text/csv; charset=utf-8'])
      expect(headers.get('content-disposition')).to.equal(`attachment; filename="${name}-2030-01-01.csv"`)
      expect([headers.get('vary'), headers.get('cache-control')]).to.deep.equal(['Accept, Accept-Encoding', 'no-store'])
      const rows = csvItems(body)
      expect(rows, path).to.have.length(count)
      const [key] = Object.keys(rows[0] ?? {}) as [string]
      expect(rows.map(row => row[key])).to.deep.equal(items.map((item: Record<string, string>) => item[key]))
    }
    const [ledger] = csvItems((await csv(`/companies/${owner.company}/ledger`)).body).slice(-1)
    expect(ledger).to.include({ kind: 'credit', micros: '5000000', note: '\'=HYPERLINK("x")' })
  })

  it('show a viewer what the list shows, with masked recipients, and the members of members as columns', async () => {
    const { otp_id } = await actor.send({ ...owner, recipient: NUMBER })
    const { browser } = await userBrowser(admin, owner.company, 'viewer')
    const { status, text } = await browser.ask('GET', '/verifications', undefined, CSV.headers)
    expect(status).to.equal(200)
    const [row] = csvItems(text)
    expect(row).to.include({ otp_id, masked_recipient: "'+44****56", 'started_by.kind': 'server', 'exchange.at': '' })
    const [item] = (await admin.get('/verifications')).body.items
    expect(JSON.parse(row?.deliveries ?? '')).to.deep.equal(item.deliveries)
    expect(text).not.to.contain(NUMBER.slice(1))
  })

  it('are in the audit log, with the filters but not their values; so is the look-up of a recipient', async () => {
    await actor.send({ ...owner, recipient: NUMBER })
    await csv(`/verifications?app_id=${owner.app}&recipient=${encodeURIComponent(NUMBER)}&metadata.order=A-1`)
    const records = (await admin.get(`/audit?company_id=${owner.company}`)).body.items
    expect(records.map(({ action }: { action: string }) => action)).to.include('recipient.look_up')
    const record = records.find(({ action }: { action: string }) => action === 'list.export')
    expect(record).to.deep.include({
      who: TOKENS[0]?.name,
      company_id: owner.company,
      target: owner.app,
      after: { list: 'verifications', filters: ['app_id', 'metadata.order', 'recipient'] },
      outcome: 'done',
    })
    await csv('/audit')
    const exports = (await admin.get('/audit?action=list.export')).body.items
    const all = exports.find(({ after }: { after: { list: string } }) => after.list === 'audit')
    expect(all).to.deep.include({ company_id: null, target: 'all companies', after: { list: 'audit', filters: [] } })
  })

  it('end with a line that says so where rows were left out, and go on with its cursor', async () => {
    const ids: string[] = []
    for (const _ of [1, 2, 3]) {
      await admin.clock.advance(1)
      ids.unshift((await actor.send({ ...owner, recipient: 'ann@example.com' })).otp_id)
    }
    const path = `/apps/${owner.app}/verifications?limit=2`
    const [, first, second, last] = parseCsv((await csv(path)).body)
    expect([first?.[0], second?.[0], last?.[0]]).to.deep.equal([ids[0], ids[1], MORE_ROWS])
    const rest = await csv(`${path}&cursor=${encodeURIComponent(last?.[1] ?? '')}`)
    expect(csvItems(rest.body).map(({ otp_id }) => otp_id)).to.deep.equal([ids[2]])
    expect((await admin.get(`/apps/${owner.app}/verifications`)).body.next_cursor).to.equal(null)
  })
})

onEmbeddedStore('an export', fresh => {
  afterEach(closeAdmins)

  it('is answered to a caller who prefers it, refused as JSON, and allowed to users of a closed company', async () => {
    const admin = await startAdmin(await fresh())
    const { company } = await createTenant(admin)
    const typeFor = async (Accept: string) =>
      (await admin.ask('GET', '/audit', undefined, { headers: { Accept } })).headers.get('content-type')?.split(';')[0]
    expect(await typeFor('*/*')).to.equal('application/json')
    expect(await typeFor('text/html')).to.equal('application/json')
    expect(await typeFor('application/json, text/csv')).to.equal('application/json')
    expect(await typeFor('application/json;q=0.5, text/csv')).to.equal('text/csv')
    const refused = await admin.ask('GET', '/audit?since=never', undefined, CSV)
    expect([refused.status, refused.body.type]).to.deep.equal([422, 'ValidationError'])
    const { browser } = await userBrowser(admin, company, 'viewer')
    await admin.ask('PATCH', `/companies/${company}`, { closed: true })
    expect((await browser.ask('GET', '/audit', undefined, CSV.headers)).status).to.equal(200)
  })

  /** Serves a list of a thousand items. `beforeRead` runs before each page, and is told which it is. */
  async function askForFile(beforeRead: (nth: number, ctx: Context) => Promise<unknown>) {
    const { asked, readPage } = listOf(1_000)
    const list = operation({
      id: 'listThings',
      request: 'GET /things',
      role: 'viewer',
      summary: 'List things',
      description: 'Newest first.',
      query: pageQuery,
      answers: [page(SCHEMA, 'A page.', { id: 1, by: null })],
      csv: 'things',
      async handle({ ctx, query }) {
        await beforeRead(asked.length + 1, ctx)
        return readPage(query)
      },
    })
    const router = new Router()
    const deps = { clock: testClock(), withAudit: async () => true } as unknown as AdminDeps
    mountOperations(router, [list], deps, () => ({ ...operatorPrincipal('ada'), session: null }), ADMIT_ALL)
    const { log } = createCapturedLog()
    const shell = createHttpShell({ log, metrics: createMetrics({ processMetrics: false }), clock: deps.clock }, [
      router,
    ])
    server = await serveApp(shell)
    const [response] = (await once(get(`${server.url}/admin/v1/things`, CSV), 'response')) as [IncomingMessage]
    return { asked, response }
  }
  let server: ServedApp | undefined
  afterEach(() => server?.close())

  it('stops reading when its client goes away', async () => {
    const [thirdIsRead, serverKnows] = [createGate(), createGate()]
    const { asked, response } = await askForFile(async (nth, ctx) => {
      if (nth !== 3) return
      thirdIsRead.release()
      await once(ctx.res, 'close')
      serverKnows.release()
    })
    await thirdIsRead.released
    response.destroy()
    await serverKnows.released
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    expect(asked).to.have.length(3)
  })

  it('breaks off where a later page cannot be read, so that the client knows that rows are missing', async () => {
    const { response } = await askForFile(async nth => {
      if (nth === 3) throw new Unavailable('the store is gone')
    })
    expect(response.statusCode).to.equal(200)
    expect(await response.toArray().catch(thrown => thrown)).to.be.an('error')
    expect(response.complete).to.equal(false)
  })
})

describe('the lines of an export', () => {
  const linesOf = async (length: number, maxRows?: number) => {
    const { readPage } = listOf(length)
    const first = await readPage({ limit: Math.min(100, maxRows ?? 100) })
    return parseCsv(
      (await Readable.from(csvLines(columnsOf(linesSchema(SCHEMA, 'items')), first, readPage, maxRows)).toArray()).join(
        '',
      ),
    )
  }

  it('are a hundred thousand at most, and then say that there are more', async () => {
    expect(MAX_CSV_ROWS).to.equal(100_000)
    const whole = await linesOf(250, 250)
    expect(whole).to.have.length(1 + 250)
    expect(whole.at(-1)).to.deep.equal(['249', '', ''])
    const cut = await linesOf(251, 250)
    expect(cut).to.have.length(1 + 250 + 1)
    expect(cut.at(-1)).to.deep.equal([MORE_ROWS, '250', ''])
  })
})

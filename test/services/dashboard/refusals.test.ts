// GET /refusals and GET /refusals/summary: who sees which refusals, how they are found, and how many there are of each type.
import { Router } from '@koa/router'
import { expect } from 'chai'
import { createHttpShell } from '../../../infra/http/shell.ts'
import { newId } from '../../../infra/ids.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { ADMIN_PATH } from '../../../services/dashboard/access.ts'
import type { AdminDeps } from '../../../services/dashboard/admin-deps.ts'
import { mountOperations } from '../../../services/dashboard/operation.ts'
import { createReadFilteredPage } from '../../../services/dashboard/pages.ts'
import { summarizeRefusals } from '../../../services/dashboard/refusal-summary.ts'
import { refusalOperations } from '../../../services/dashboard/refusals.ts'
import { createWithAudit } from '../../../services/dashboard/with-audit.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { RefusalDoc } from '../../../services/domain/refusals/documents.ts'
import { refusedRecipient } from '../../../services/domain/refusals/refusal-log.ts'
import { parseRecipient } from '../../../services/domain/verifications/valid-recipient.ts'
import { ADMIT_ALL } from '../../support/admin-api.ts'
import { type Answer, ask } from '../../support/api-caller.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { type ServedApp, serveApp } from '../../support/serve-app.ts'
import { eachStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

const NUMBER = '+447400998877'

eachStore('refusals for an operator', fresh => {
  const clock = testClock()
  let store: CountersignStore
  let served: ServedApp | undefined
  beforeEach(async () => {
    store = await fresh()
    const app = (_id: string, company_id: string) => ({
      _id,
      company_id,
      name: 'Shop',
      settings: {},
      created_at: 0,
      rev: 1,
    })
    await store.docs('apps').insert([app('app_1', 'cmp_1'), app('app_2', 'cmp_1'), app('app_3', 'cmp_2')])
  })
  afterEach(() => served?.close())

  /** Stores refusals one second after the other. */
  async function refuse(app_id: string, recipient: string | null, more: Partial<RefusalDoc> = {}): Promise<RefusalDoc> {
    await clock.advance(1_000)
    const at = clock.now()
    const [mode, key] = ['test', testKeyring(2)] as const
    const { index, masked, country } =
      recipient === null
        ? { index: null, masked: null, country: null }
        : refusedRecipient(key, { app_id, mode }, recipient, parseRecipient(recipient))
    const doc: RefusalDoc = {
      _id: newId('rfs', at),
      company_id: app_id === 'app_3' ? 'cmp_2' : 'cmp_1',
      app_id,
      mode,
      key_id: 'key_1',
      at,
      request_id: 'req-1',
      type: 'GeoBlockedError',
      scope: null,
      country,
      masked,
      ...(index === null ? {} : { recipient: index }),
      purge_at: new Date(at + 1e9),
      ...more,
    }
    await store.docs('refusals').insert([doc])
    return doc
  }

  /** Asks as an operator, or as a user of a company, in a process with these data keys. */
  async function get(
    query: string,
    company_id: string | null = null,
    keys = [3, 2],
    path = '/refusals',
  ): Promise<Answer> {
    await served?.close()
    const keyring = testKeyring(...keys)
    const router = new Router()
    const { log } = createCapturedLog()
    const deps = {
      store,
      keyring,
      readFilteredPage: createReadFilteredPage({ keyring, clock }),
      withAudit: createWithAudit({ audit: store.docs('audit'), companies: store.docs('companies'), clock, log }),
    } as AdminDeps
    const principal = { name: 'ada', role: 'viewer', company_id, user_id: null, operator: null, session: null } as const
    mountOperations(router, refusalOperations, deps, () => principal, ADMIT_ALL)
    served = await serveApp(createHttpShell({ log, metrics: createMetrics(), clock }, [router]))
    return ask(`${served.url}${ADMIN_PATH}${path}?${query}`, {})
  }
  const times = async (...args: Parameters<typeof get>): Promise<number[]> =>
    (await get(...args)).body.items.map(({ at }: { at: string }) => Date.parse(at))

  const summary = async (query: string, company_id: string | null = null) =>
    get(query, company_id, [3, 2], '/refusals/summary')

  it('are counted by type, the most frequent first, of one app, of one mode and from a time on', async () => {
    const limited = { type: 'RateLimitExceededError', scope: 'recipient' } as const
    const first = await refuse('app_1', NUMBER)
    await refuse('app_1', NUMBER, limited)
    const third = await refuse('app_1', null, { ...limited, mode: 'live' })
    await refuse('app_2', NUMBER)
    expect((await summary('app_id=app_1')).body).to.deep.equal({
      types: [
        { type: 'RateLimitExceededError', count: 2 },
        { type: 'GeoBlockedError', count: 1 },
      ],
      counted: 3,
      complete: true,
      oldest_at: new Date(first.at).toISOString(),
    })
    const live = (await summary('app_id=app_1&mode=live')).body
    expect(live).to.deep.include({ types: [{ type: 'RateLimitExceededError', count: 1 }], counted: 1, complete: true })
    const since = new Date(third.at).toISOString()
    expect((await summary(`since=${since}`)).body).to.include({ counted: 2, oldest_at: since })
    expect((await summary('app_id=app_3')).body).to.deep.equal({
      types: [],
      counted: 0,
      complete: true,
      oldest_at: null,
    })
  })

  it('are counted up to a number, and the summary says that there are more', async () => {
    const all = [await refuse('app_1', NUMBER), await refuse('app_1', NUMBER), await refuse('app_1', NUMBER)]
    async function* newestFirst() {
      yield* [...all].reverse()
    }
    const counted = await summarizeRefusals(newestFirst(), () => true, 2)
    expect(counted).to.include({ counted: 2, complete: false, oldest_at: new Date(all[1]?.at ?? 0).toISOString() })
    expect(await summarizeRefusals(newestFirst(), () => true, 3)).to.include({ counted: 3, complete: true })
  })

  it('show what is decided, newest first, and page by page', async () => {
    const limited = { type: 'RateLimitExceededError', scope: 'recipient' } as const
    const [first, second] = [await refuse('app_1', NUMBER, limited), await refuse('app_3', null)]
    const page = await get('limit=1')
    expect(page.body.items).to.deep.equal([
      {
        at: new Date(second.at).toISOString(),
        request_id: 'req-1',
        app_id: 'app_3',
        key_id: 'key_1',
        type: 'GeoBlockedError',
        scope: null,
        country: null,
        masked_recipient: null,
      },
    ])
    const { items, next_cursor } = (await get(`limit=1&cursor=${page.body.next_cursor}`)).body
    expect(next_cursor).to.equal(null)
    expect(items).to.deep.equal([
      {
        at: new Date(first.at).toISOString(),
        request_id: 'req-1',
        app_id: 'app_1',
        key_id: 'key_1',
        ...limited,
        country: 'GB',
        masked_recipient: '+44****77',
      },
    ])
  })

  it('are found by app, type and time', async () => {
    const [one, two, three] = [
      await refuse('app_1', NUMBER),
      await refuse('app_2', NUMBER, { type: 'InsufficientFundsError' }),
      await refuse('app_1', null, { type: 'HTTPException' }),
    ]
    expect(await times('app_id=app_1')).to.deep.equal([three.at, one.at])
    expect(await times('type=InsufficientFundsError')).to.deep.equal([two.at])
    expect(await times('type=HTTPException&app_id=app_2')).to.deep.equal([])
    const time = new Date(two.at).toISOString()
    expect(await times(`since=${time}`)).to.deep.equal([three.at, two.at])
    expect(await times(`until=${time}`)).to.deep.equal([one.at])
    const next = new Date(two.at + 1).toISOString()
    expect(await times(`since=${time}&until=${next}`)).to.deep.equal([two.at])
  })

  it('are found by recipient in all apps, and by a text that is no recipient', async () => {
    const [one, , three, four] = [
      await refuse('app_1', NUMBER),
      await refuse('app_1', 'ann@example.com'),
      await refuse('app_3', NUMBER),
      await refuse('app_2', '+44 7400 99'),
    ]
    expect(await times(`recipient=${encodeURIComponent(NUMBER)}`)).to.deep.equal([three.at, one.at])
    expect(await times(`recipient=${NUMBER}`), 'an unescaped plus').to.deep.equal([three.at, one.at])
    expect(await times(`recipient=${NUMBER}&app_id=app_1`)).to.deep.equal([one.at])
    expect(await times(`recipient=${encodeURIComponent('+44 7400 99')}`)).to.deep.equal([four.at])
    expect(await times('recipient=%2B447400998878')).to.deep.equal([])
    const misspelled = await refuse('app_2', '+44 7400-998878')
    const withoutPlus = await refuse('app_1', '447400998878')
    for (const typed of ['+447400998878', '447400998878', '+44 7400 998878'])
      expect(await times(`recipient=${encodeURIComponent(typed)}`), typed).to.deep.equal([
        withoutPlus.at,
        misspelled.at,
      ])
  })

  it('are found by recipient while the key of their index is configured, and by everything else after that', async () => {
    const { at } = await refuse('app_1', NUMBER)
    expect(await times(`recipient=${NUMBER}`, null, [3, 2])).to.deep.equal([at])
    expect(await times(`recipient=${NUMBER}`, null, [3])).to.deep.equal([])
    expect(await times('app_id=app_1', null, [3])).to.deep.equal([at])
  })

  it('of another company do not exist for a user, and are not counted', async () => {
    const [own, , other] = [
      await refuse('app_1', NUMBER),
      await refuse('app_3', NUMBER),
      await refuse('app_2', 'ann@example.com'),
    ]
    expect((await summary('')).body.counted).to.equal(3)
    expect((await summary('', 'cmp_1')).body.counted).to.equal(2)
    expect((await summary('app_id=app_3', 'cmp_1')).status).to.equal(404)
    expect(await times('', 'cmp_1')).to.deep.equal([other.at, own.at])
    expect(await times(`recipient=${NUMBER}`, 'cmp_1')).to.deep.equal([own.at])
    expect((await get('app_id=app_3', 'cmp_1')).status).to.equal(404)
    expect((await get('app_id=app_none')).status).to.equal(404)
  })
})

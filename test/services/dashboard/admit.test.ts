import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Context } from 'koa'
import { createFindCaller } from '../../../infra/http/caller-address.ts'
import type { LoopShares } from '../../../infra/loop-shares.ts'
import { createGuard, NO_COMPANY, operatorPrincipal } from '../../../services/dashboard/access.ts'
import { createAdmit } from '../../../services/dashboard/admit.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { type Browser, userBrowser } from '../../support/dashboard-session.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

/** Shares that are full for these owners, and say for whom they were asked. */
function sharesWithout(...full: string[]) {
  const turns: string[] = []
  const loopShares: LoopShares = {
    isFull: owner => full.includes(owner),
    run(owner, work) {
      turns.push(owner)
      return work()
    },
  }
  return { full, turns, loopShares }
}

describe('admission to the admin API', () => {
  const contextOf = (
    { company_id, user_id = null }: { company_id: string | null; user_id?: string | null },
    { writable = true, method = 'PATCH' } = {},
  ) =>
    ({
      state: { principal: { company_id, user_id } },
      method,
      writable,
      get: () => '',
      req: { socket: { remoteAddress: '203.0.113.7' } },
    }) as unknown as Context
  const create = (loopShares?: LoopShares) =>
    createAdmit({ findCaller: createFindCaller([]), sessionCookie: { tokenIn: () => null }, loopShares })
  const next = async () => 'answered'

  it('shares by company and kind of call, by person where there is no company, and by address for strangers', async () => {
    const { turns, loopShares } = sharesWithout()
    const { user, stranger } = create(loopShares)
    await user(contextOf({ company_id: 'cmp_a' }), next)
    await user(contextOf({ company_id: 'cmp_a' }, { method: 'GET' }), next)
    for (const user_id of ['usr_1', 'usr_2']) await user(contextOf({ company_id: NO_COMPANY, user_id }), next)
    await stranger(contextOf({ company_id: null }), next)
    expect(await user(contextOf({ company_id: null }), next), 'an operator').to.equal('answered')
    expect(turns).to.deep.equal([
      'cmp_a changes',
      'cmp_a reads',
      'usr_1 changes',
      'usr_2 changes',
      'address 203.0.113.7/32',
    ])
  })

  it('comes after identification, of which there is one in a turn', async () => {
    let identified = 0
    const identify = async () => {
      identified += 1
      return { ...operatorPrincipal('ada'), session: null }
    }
    const guard = createGuard('viewer', identify)
    const calls = Array.from({ length: 10 }, () => guard(contextOf({ company_id: null }), async () => {}))
    for (let turn = 0; turn < 3; turn += 1) await nextTurn()
    expect(identified).to.be.within(1, 3)
    await Promise.all(calls)
    expect(identified).to.equal(10)
  })

  it('executes nothing for a caller that hung up while it waited', async () => {
    const { user } = create()
    const refusal = await Promise.resolve(user(contextOf({ company_id: 'cmp_a' }, { writable: false }), next)).catch(
      error => error,
    )
    expect(refusal).to.deep.include({ status: 503 })
  })
})

onEmbeddedStore('the calls of the admin API', fresh => {
  afterEach(closeAdmins)

  async function start(loopShares: LoopShares) {
    const admin = await startAdmin(await fresh(), { loopShares })
    const [a, b] = [await createTenant(admin), await createTenant(admin)]
    const browsers = await Promise.all(
      [a, b].map(async ({ company }) => (await userBrowser(admin, company, 'developer')).browser),
    )
    const [ofA, ofB] = browsers as [Browser, Browser]
    return { admin, a, b, ofA, ofB }
  }

  /** Sends the head of a PATCH that announces a body, and nothing of the body. */
  async function announce({ url }: TestAdmin, app: string, cookie: string | null): Promise<string> {
    const { port, host } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = [
      `PATCH /admin/v1/apps/${app} HTTP/1.1`,
      `Host: ${host}`,
      `Cookie: countersign_session=${cookie}`,
      'Content-Type: application/json',
      'Content-Length: 300000',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    return String(answer)
  }

  it('are refused before session and body are read where their company has too many, and those of others are not', async () => {
    const shares = sharesWithout()
    const { admin, a, b, ofA, ofB } = await start(shares.loopShares)
    expect((await ofA.ask('GET', `/apps/${a.app}`)).status).to.equal(200)
    shares.full.push(`${a.company} changes`)
    shares.turns.length = 0
    const refused = await announce(admin, a.app, ofA.cookie)
    expect(refused).to.match(/^HTTP\/1\.1 503 /)
    expect(refused).to.match(/retry-after: 5/i)
    expect(shares.turns, 'no session was looked up').to.deep.equal([])
    expect((await ofA.ask('GET', `/apps/${a.app}`)).status).to.equal(200)
    expect((await ofB.ask('PATCH', `/apps/${b.app}`, { name: 'B' })).status).to.equal(200)
    expect((await admin.ask('PATCH', `/apps/${a.app}`, { name: 'A' })).status, 'an operator').to.equal(200)
  })

  it('are refused before the session is looked up where strangers of the address have too many', async () => {
    const shares = sharesWithout()
    const { admin, a, ofA, ofB } = await start(shares.loopShares)
    expect((await ofA.ask('GET', `/apps/${a.app}`)).status).to.equal(200)
    shares.full.push('address 127.0.0.1/32')
    shares.turns.length = 0
    expect(await announce(admin, a.app, 'A'.repeat(43))).to.match(/^HTTP\/1\.1 503 /)
    expect(await announce(admin, a.app, ofB.cookie), 'not seen yet').to.match(/^HTTP\/1\.1 503 /)
    expect(shares.turns).to.deep.equal([])
    expect((await ofA.ask('PATCH', `/apps/${a.app}`, { name: 'A' })).status).to.equal(200)
  })
})

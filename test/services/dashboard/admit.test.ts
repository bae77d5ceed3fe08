import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Context } from 'koa'
import { Problem } from '../../../infra/http/problem.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { createGuard, operatorPrincipal } from '../../../services/dashboard/access.ts'
import { createAdmit } from '../../../services/dashboard/admit.ts'
import { closeAdmins, createTenant, startAdmin } from '../../support/admin-api.ts'
import { testClock } from '../../support/clock.ts'
import { userBrowser } from '../../support/dashboard-session.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

describe('admission to the admin API', () => {
  const contextOf = (company_id: string | null, { writable = true, method = 'PATCH' } = {}) =>
    ({ state: { principal: { company_id } }, method, writable }) as unknown as Context

  it('refuses a company whose changes wait too long, and neither what it reads, nor others, nor operators', async () => {
    const clock = testClock()
    const waiting: string[] = []
    const loopShares = {
      run: <T>(owner: string, work: () => Promise<T>): Promise<T> => {
        if (owner !== 'flood changes') return work()
        waiting.push(owner)
        return new Promise<T>(() => {})
      },
    }
    const admit = createAdmit({ clock, loopShares })
    const call = (company: string | null, method = 'PATCH') =>
      admit(contextOf(company, { method }), async () => 'answered')
    const refused: unknown[] = []
    for (let nth = 0; nth < 64; nth += 1) {
      void Promise.resolve(call('flood')).catch(error => refused.push(error))
      await clock.advance(100)
    }
    expect(waiting.length).to.be.within(8, 48)
    expect(refused).to.have.length(64 - waiting.length)
    expect(refused[0]).to.be.instanceOf(Problem)
    expect(refused[0]).to.deep.include({ status: 503 })
    const others = [call('flood', 'GET'), call('other'), call(null)]
    expect(await Promise.all(others)).to.deep.equal(['answered', 'answered', 'answered'])
  })

  it('comes after identification, of which there is one in a turn', async () => {
    let identified = 0
    const identify = async () => {
      identified += 1
      return { ...operatorPrincipal('ada'), session: null }
    }
    const guard = createGuard('viewer', identify)
    const calls = Array.from({ length: 10 }, () => guard(contextOf(null), async () => {}))
    for (let turn = 0; turn < 3; turn += 1) await nextTurn()
    expect(identified).to.be.within(1, 3)
    await Promise.all(calls)
    expect(identified).to.equal(10)
  })

  it('executes nothing for a caller that hung up while it waited', async () => {
    const admit = createAdmit({ clock: testClock() })
    const refusal = await Promise.resolve(admit(contextOf('cmp_a', { writable: false }), async () => 'answered')).catch(
      error => error,
    )
    expect(refusal).to.deep.include({ status: 503 })
  })
})

onEmbeddedStore('the calls of the admin API', fresh => {
  afterEach(closeAdmins)

  it('take their turn before their bodies are read, those of operators excepted', async () => {
    const turns: string[] = []
    const loopShares = {
      run<T>(owner: string): Promise<T> {
        turns.push(owner)
        throw new Unavailable('no turn comes')
      },
    }
    const admin = await startAdmin(await fresh(), { loopShares })
    const { company, app } = await createTenant(admin)
    const { browser } = await userBrowser(admin, company, 'developer')
    expect((await browser.ask('GET', `/apps/${app}`)).status).to.equal(503)
    expect((await browser.ask('PATCH', `/apps/${app}`, { colour: 'not read' })).status).to.equal(503)
    expect(turns).to.deep.equal([`${company} reads`, `${company} changes`])
  })
})

// Reading all the money of a company is dear, and its owners may ask for it as often as they like.

import { expect } from 'chai'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createAccounts } from '../../../../services/domain/money/accounts.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { hold as testHold } from '../../../support/money.ts'
import { startOtpActor } from '../../../support/otp.actor.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('a reconciliation', fresh => {
  afterEach(closeAdmins)

  /** Counts the reads of the ledger, and how many there are at the same time at most. The first ones wait for `release`. */
  function countReads(store: CountersignStore) {
    const counts = { companies: 0, ledger: 0, most: 0, release: () => {} }
    const released = new Promise<void>(resolve => {
      counts.release = resolve
    })
    let now = 0
    const [ledger, companies] = [store.docs('ledger'), store.docs('companies')]
    const find: typeof ledger.find = async (...args) => {
      counts.ledger += 1
      now += 1
      counts.most = Math.max(counts.most, now)
      await released
      now -= 1
      return ledger.find(...args)
    }
    const get: typeof companies.get = async ids => {
      const found = await companies.get(ids)
      counts.companies += 1
      return found
    }
    const counted = { ledger: { ...ledger, find }, companies: { ...companies, get } }
    const counting = {
      ...store,
      docs: (name: keyof typeof counted) => counted[name] ?? store.docs(name),
    } as CountersignStore
    return { counts, counting }
  }

  /** Asks for the companies, and lets the ledger be read once all requests have arrived. */
  async function askAtOnce(admin: TestAdmin, counts: ReturnType<typeof countReads>['counts'], companies: string[]) {
    counts.companies = 0
    const asked = Promise.all(companies.map(company => admin.get(`/companies/${company}/reconciliation`)))
    while (counts.companies < companies.length + 1) await new Promise(resolve => setTimeout(resolve, 5))
    await new Promise(resolve => setTimeout(resolve, 20))
    counts.release()
    return asked
  }

  it('is made once for all who ask at the same time, and again for the next', async () => {
    const { counts, counting } = countReads(await fresh())
    const admin = await startAdmin(counting)
    const { company } = await createTenant(admin)
    const answers = await askAtOnce(admin, counts, Array(20).fill(company))
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200))
    expect(counts.ledger).to.equal(1)
    await admin.get(`/companies/${company}/reconciliation`)
    expect(counts.ledger).to.equal(2)
  })

  it('misses the delivery of a hold only when the hold is neither under way nor to be checked', async () => {
    const store = await fresh()
    const actor = await startOtpActor(store)
    try {
      const admin = await startAdmin(store, { clock: actor.clock })
      const tenant = await createTenant(admin)
      const { otp_id } = await actor.send({ ...tenant, recipient: '+447911123456' })
      await admin.ask('POST', `/companies/${tenant.company}/credit`, { micros: 100, note: 'a transfer' })
      const accounts = createAccounts({ store, clock: actor.clock, log: createCapturedLog().log })
      const problems = async () => (await admin.get(`/companies/${tenant.company}/reconciliation`)).body.problems
      const hold = (delivery: string) => accounts.enter(tenant.company, testHold(otp_id, delivery, 10))
      await hold('dlv_1')
      expect(await problems(), 'under way').to.deep.equal([])
      await accounts.settled()
      expect(await problems(), 'to be checked').to.deep.equal([])
      await hold('dlv_2')
      accounts.confirmHold('dlv_2')
      await accounts.settled()
      expect(await problems(), 'confirmed').to.deep.equal(['dlv_2: held for, and there is none'])
    } finally {
      await actor.close()
    }
  })

  it('is made for two companies at once, and not for more', async () => {
    const { counts, counting } = countReads(await fresh())
    const admin = await startAdmin(counting)
    const tenants = await Promise.all(Array.from({ length: 5 }, () => createTenant(admin)))
    const answers = await askAtOnce(
      admin,
      counts,
      tenants.map(({ company }) => company),
    )
    expect(answers.map(({ body }) => body.problems)).to.deep.equal(Array(5).fill([]))
    expect([counts.ledger, counts.most]).to.deep.equal([5, 2])
  })
})

// Concurrent PUTs that replace all address lists or all prices, on several dashboards: the result is that of one PUT, never a mixture.
import { expect } from 'chai'
import { closeAdmins, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { createRunningClock } from '../../support/running-clock.ts'
import { eachStore } from '../../support/stores.ts'

const ROUNDS = 10
const DASHBOARDS = ['a', 'b', 'c']
const LISTS = [1, 2, 3, 4]

interface Listed {
  class: string
  name: string
  country: string
}

eachStore('concurrent PUTs on several dashboards', fresh => {
  let admins: TestAdmin[]
  beforeEach(async () => {
    const [store, clock] = [await fresh(), createRunningClock()]
    admins = await Promise.all(DASHBOARDS.map(() => startAdmin(store, { clock })))
  })
  afterEach(closeAdmins)

  /** Sends one body to each dashboard at once. Resolves with the names of the items that are there afterwards. */
  async function putConcurrently(path: string, bodies: object[], nameOf: (item: Listed) => string): Promise<string[]> {
    const answers = await Promise.all(bodies.map((body, nth) => admins[nth]?.ask('PUT', path, body)))
    for (const answer of answers) {
      expect(answer?.status, JSON.stringify(answer?.body)).to.be.oneOf([200, 409])
      if (answer?.status === 409) expect(answer.body).to.include({ type: 'HTTPException', status: 409 })
    }
    expect(answers.map(answer => answer?.status)).to.include(200)
    const { items } = (await admins[0]?.get(path))?.body ?? {}
    return items.map(nameOf)
  }

  it('leave the address lists of one PUT', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const bodies = DASHBOARDS.map(name => ({
        lists: LISTS.map(nth => ({ class: 'vpn', name: `${name}${nth}`, cidrs: [`8.8.${round}.${nth}`] })),
      }))
      const names = await putConcurrently('/ip-lists', bodies, ({ name }) => name)
      const [owner = ''] = names[0] ?? ''
      expect(names).to.deep.equal(LISTS.map(nth => `${owner}${nth}`))
    }
    const { items: audit } = (await admins[0]?.get('/audit?limit=100'))?.body ?? {}
    for (const { outcome } of audit) expect(outcome).to.be.oneOf(['done', 'undone'])
  })

  it('leave the prices of one PUT', async () => {
    const countries = [
      ['GB', 'FR', 'DE'],
      ['US', 'CA', 'MX'],
      ['BR', 'AR', 'CL'],
    ]
    for (let round = 0; round < ROUNDS; round += 1) {
      const bodies = countries.map((own, nth) => ({
        prices: [...own, 'JP'].map(country => ({ channel: 'sms', country, micros: nth })),
      }))
      const names = await putConcurrently('/prices', bodies, ({ country }) => country)
      const wanted = countries.map(own => [...own, 'JP'].sort())
      expect(wanted).to.deep.include([...names].sort())
      const { items } = (await admins[0]?.get('/prices'))?.body ?? {}
      expect(new Set(items.map(({ micros }: { micros: number }) => micros))).to.have.property('size', 1)
    }
  })
})

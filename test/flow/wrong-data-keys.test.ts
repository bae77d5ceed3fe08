// A process whose DATA_KEYS do not fit its store names the problem and ends before it takes work or writes anything, also when the store
// becomes available only later.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { StartProblem } from '../../infra/start-problem.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Engines } from '../../services/main.ts'
import { describeCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { rawDocuments } from '../support/raw-documents.ts'

const [OLD, NEW] = ['old', 'new'].map((id, at) => `${id}:${Buffer.alloc(32, at + 1).toString('base64')}`)

const bootstrap = (auth_token: string) => {
  const config = { account_sid: 'AC11111111111111111111111111111111', auth_token, from: '+15550001111' }
  const providers = [{ name: 'a', channel: 'sms', type: 'twilio', config }]
  return { companies: [{ id: 'cmp_1', name: 'Acme', apps: [{ id: 'app_1', name: 'Shop', providers }] }] }
}

/** A store that is unavailable until `back` is called. */
function createUnavailableStore() {
  let unavailable = true
  return {
    back: () => {
      unavailable = false
    },
    decorate: ({ broker, store }: Engines): Engines => ({
      broker,
      store: {
        ...store,
        ping: async () => {
          if (unavailable) throw new Unavailable('the store is unavailable')
          await store.ping()
        },
      },
    }),
  }
}

describeCountersign('the check of DATA_KEYS against the store', start => {
  const startError = (starting: Promise<unknown>): Promise<Error> =>
    starting.then(
      () => expect.fail('it started'),
      error => error,
    )

  it('ends the start when the keys do not fit, and leaves the store unchanged', async () => {
    const right = await start({ env: { DATA_KEYS: OLD ?? '' }, bootstrap: bootstrap('first') })
    const [before] = await rawDocuments(right.engines.store, 'providers')
    const refused = await startError(right.restart({ env: { DATA_KEYS: NEW ?? '' }, bootstrap: bootstrap('second') }))
    expect(refused).to.be.instanceOf(StartProblem)
    expect(refused.message).to.match(/^DATA_KEYS: .*"old".*\(new\)/)
    const again = await start({ site: right.site, env: { DATA_KEYS: OLD ?? '' } })
    expect(await rawDocuments(again.engines.store, 'providers')).to.deep.equal([before])
  })

  it('happens later when the store is unavailable at first, and until then /readyz names what fails', async () => {
    const right = await start({ env: { DATA_KEYS: OLD ?? '' } })
    const { decorate, back } = createUnavailableStore()
    const waiting = await right.restart({ env: { DATA_KEYS: NEW ?? '' }, untilReady: false, decorate })
    const ended = startError(waiting.ready)
    await eventually(async () => {
      const answer = await fetch(`${waiting.url}/readyz`)
      expect(answer.status).to.equal(503)
      const { checks } = (await answer.json()) as { checks: object[] }
      expect(checks).to.deep.include({ name: 'store', ok: false, detail: 'the store is unavailable' })
      expect(checks).to.deep.include({ name: 'process', ok: false, detail: 'starting' })
    })
    expect((await fetch(`${waiting.url}/healthz`)).status).to.equal(200)
    back()
    expect(await ended).to.be.instanceOf(StartProblem)
    expect((await fetch(`${waiting.url}/readyz`)).status, 'never ready').to.equal(503)
  })
})

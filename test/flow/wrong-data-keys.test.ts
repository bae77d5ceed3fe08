// A process whose DATA_KEYS are not those of its store: it says so and ends, before it has taken any work or written anything, however
// late the store comes.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { StartProblem } from '../../infra/start-problem.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Engines } from '../../services/main.ts'
import { describeCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { rawDocuments } from '../support/raw-documents.ts'

const [OLD, NEW] = ['old', 'new'].map((id, at) => `${id}:${Buffer.alloc(32, at + 1).toString('base64')}`)
const TIMEOUT_MS = 30_000

const bootstrap = (auth_token: string) => ({
  companies: [
    {
      id: 'cmp_1',
      name: 'Acme',
      apps: [
        {
          id: 'app_1',
          name: 'Shop',
          providers: [
            {
              name: 'a',
              channel: 'sms',
              type: 'twilio',
              config: { account_sid: 'AC1', auth_token, from: '+15550001111' },
            },
          ],
        },
      ],
    },
  ],
})

/** A store that is away until it is told to be back. */
function createUnavailableStore() {
  let away = true
  return {
    back: () => {
      away = false
    },
    decorate: ({ broker, store }: Engines): Engines => ({
      broker,
      store: {
        ...store,
        ping: async () => {
          if (away) throw new Unavailable('the store is away')
          await store.ping()
        },
      },
    }),
  }
}

describeCountersign('DATA_KEYS that do not fit the store', start => {
  const startError = (starting: Promise<unknown>): Promise<Error> =>
    starting.then(
      () => expect.fail('it started'),
      error => error,
    )

  it('end the start, and leave the store as it was', async () => {
    const right = await start({ env: { DATA_KEYS: OLD ?? '' }, bootstrap: bootstrap('first') })
    const [before] = await rawDocuments(right.engines.store, 'providers')
    const refused = await startError(right.restart({ env: { DATA_KEYS: NEW ?? '' }, bootstrap: bootstrap('second') }))
    expect(refused).to.be.instanceOf(StartProblem)
    expect(refused.message).to.match(/^DATA_KEYS: .*"old".*\(new\)/)
    const again = await start({ site: right.site, env: { DATA_KEYS: OLD ?? '' } })
    expect(await rawDocuments(again.engines.store, 'providers')).to.deep.equal([before])
  })

  it('end it later when the store is away at first; until then it says what it waits for', async () => {
    const right = await start({ env: { DATA_KEYS: OLD ?? '' } })
    const { decorate, back } = createUnavailableStore()
    const waiting = await right.restart({ env: { DATA_KEYS: NEW ?? '' }, untilReady: false, decorate })
    const ended = startError(waiting.ready)
    await eventually(async () => {
      const answer = await fetch(`${waiting.url}/readyz`)
      expect(answer.status).to.equal(503)
      expect(await answer.json()).to.deep.nested.include({ 'parts.store': 'down', 'parts.process': 'down' })
    }, TIMEOUT_MS)
    expect((await fetch(`${waiting.url}/healthz`)).status).to.equal(200)
    back()
    expect(await ended).to.be.instanceOf(StartProblem)
    expect((await fetch(`${waiting.url}/readyz`)).status, 'it never takes work').to.equal(503)
  })

  it('that do fit make it ready once the store is there', async () => {
    const right = await start({ env: { DATA_KEYS: OLD ?? '' } })
    const { decorate, back } = createUnavailableStore()
    const waiting = await right.restart({ env: { DATA_KEYS: `${NEW},${OLD}` }, untilReady: false, decorate })
    back()
    await waiting.ready
    await eventually(async () => expect((await fetch(`${waiting.url}/readyz`)).status).to.equal(200), TIMEOUT_MS)
  })

  it('in the midst of a rotation are those that lack one that seals by now', async () => {
    const old = await start({ env: { DATA_KEYS: OLD ?? '' } })
    const both = await old.restart({ env: { DATA_KEYS: `${OLD},${NEW}` } })
    const turned = await both.restart({ env: { DATA_KEYS: `${NEW},${OLD}` } })
    const notYet = await turned.restart({ env: { DATA_KEYS: `${OLD},${NEW}` } })
    const last = await notYet.restart({ env: { DATA_KEYS: `${NEW},${OLD}` } })
    expect(await startError(last.restart({ env: { DATA_KEYS: OLD ?? '' } }))).to.be.instanceOf(StartProblem)
    await start({ site: old.site, env: { DATA_KEYS: NEW ?? '' } })
  })
})

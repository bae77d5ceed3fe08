// An idempotency key used in two processes at once while DATA_KEYS rotate. A process may know one data key or both, in either order: the
// calls still make one verification, and all get its answer.
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createEdgeService } from '../../services/edge/service.ts'
import { createOtpService } from '../../services/otp/service.ts'
import { createCaller } from '../support/api-caller.ts'
import { type Countersign, startCountersign } from '../support/countersign.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { freshSite, onEachEngineSet, type Site } from '../support/site.ts'

const [OLD, NEW] = ['old', 'new'].map((id, at) => `${id}:${Buffer.alloc(32, at + 1).toString('base64')}`)
const CODE_SECRETS = `c:${Buffer.alloc(32, 9).toString('base64')}`
const PLENTY = [{ max: 100_000, seconds: 60 }]
const ROUNDS = 5
const CALLS = 20

const MOMENTS = [
  { moment: 'while one process knows the new key', first: `${OLD}`, second: `${OLD},${NEW}` },
  { moment: 'while the current keys differ', first: `${OLD},${NEW}`, second: `${NEW},${OLD}` },
  { moment: 'while one process no longer knows the old key', first: `${NEW},${OLD}`, second: `${NEW}` },
]

onEachEngineSet('an idempotency key used in two processes at once', engines => {
  for (const { moment, first, second } of MOMENTS)
    describe(moment, () => {
      let flow: Flow
      let other: Countersign
      let otherSite: Site | null = null

      before(async () => {
        flow = await startFlow({ engines, env: { DATA_KEYS: first, CODE_SECRETS } })
        const shared = flow.countersign.engines
        otherSite = engines === 'embedded' ? await freshSite(engines) : null
        other = await startCountersign({
          engines,
          site: otherSite ?? flow.countersign.site,
          env: { DATA_KEYS: second, CODE_SECRETS },
          clock: flow.clock,
          services: { edge: createEdgeService, otp: createOtpService },
          // Embedded engines are for one process, so this one opens engines of its own and works on those of the first.
          decorate: own =>
            engines === 'embedded'
              ? {
                  broker: { ...shared.broker, close: own.broker.close },
                  store: { ...shared.store, close: own.store.close },
                }
              : own,
        })
      })
      after(async () => {
        await flow.advanceUntil(other.stop())
        await otherSite?.wipe()
        await flow.stop()
      })

      it('makes one verification, and all calls get its answer', async () => {
        const { app, server } = await flow.createTenant({ limits: { app_without_client_ip: PLENTY } })
        const callers = [server, createCaller(other.url, server.key)]
        const answers = []
        for (let round = 0; round < ROUNDS; round += 1) {
          const [to, idempotency] = [freshNumber(), randomUUID()]
          const sends = Array.from({ length: CALLS }, (_, nth) => callers[nth % 2]?.send(to, { idempotency }))
          const texts = (await flow.advanceUntil(Promise.all(sends))).map(answer => `${answer?.status} ${answer?.text}`)
          expect(new Set(texts), texts.join('\n')).to.have.property('size', 1)
          expect(texts[0]).to.match(/^200 /)
          answers.push(texts[0])
        }
        const { items } = (await flow.admin('GET', `/apps/${app}/verifications?limit=100`)).body
        expect(items).to.have.length(ROUNDS)
        expect(new Set(answers)).to.have.property('size', ROUNDS)
      })
    })
})

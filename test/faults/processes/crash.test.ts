// The crash harness (test/support/crash.ts) on real processes: kill -9 at exactly the call it names, and exactly the work before is there.
import { join } from 'node:path'
import { expect } from 'chai'
import { type DeliveredMessage, done } from '../../../infra/broker/broker.ts'
import type { Engines } from '../../../services/main.ts'
import { openBareEngines } from '../../support/bare-engines.ts'
import type { CrashPoint } from '../../support/crash.ts'
import { COMPANY_IDS, ONE_BY_ONE, QUEUE } from '../../support/crash.work.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { ECHO_SERVICES, useProcesses } from '../../support/processes.ts'
import { waitUntilUp } from '../../support/rabbitmq.ts'
import { onEachEngineSet, type Site } from '../../support/site.ts'

const SCRIPT = join(import.meta.dirname, '../../support/crash.child.js')
const KILLED = { code: null, signal: 'SIGKILL' }
/** Each kind of call is cut off at one moment here: test/faults/processes/crash.points.test.ts has the others, without real deaths. */
const BEFORE = { nth: 3, when: 'before', pieces: 2 } as const
const AFTER = { nth: 3, when: 'after', pieces: 3 } as const

/** Opens the site's engines in the test itself, to see what is stored. */
async function withEngines<T>(site: Site, look: (engines: Engines) => Promise<T>): Promise<T> {
  const engines = await openBareEngines({ ...site.env, AMQP_PREFIX: site.prefix })
  try {
    await waitUntilUp(engines.broker)
    return await look(engines)
  } finally {
    await engines.broker.close()
    await engines.store.close()
  }
}

const writtenIds = (site: Site): Promise<string[]> =>
  withEngines(site, async ({ store }) => [...(await store.docs('companies').get(COMPANY_IDS)).keys()].sort())

onEachEngineSet('a process that is killed at a call', engines => {
  const { site, script } = useProcesses()

  for (const { nth, when, pieces } of [BEFORE, AFTER]) {
    it(`${when} write ${nth} leaves ${pieces} documents`, async () => {
      const here = await site(engines)
      const point: CrashPoint = { port: 'store', method: 'companies.insert', nth, when }
      const dying = script(SCRIPT, here, point, ['write'])
      expect(await dying.exited).to.deep.equal(KILLED)
      expect(dying.lines, 'it did nothing after the crash').to.deep.equal(COMPANY_IDS.slice(0, nth - 1))
      expect(await writtenIds(here)).to.deep.equal(COMPANY_IDS.slice(0, pieces))
    })
  }
})

describe('a process that is killed at its embedded broker', () => {
  const { site, script } = useProcesses()

  for (const { method, nth, when, pieces } of [
    { method: 'publish', ...BEFORE },
    { method: 'handle', ...AFTER },
  ] as const)
    it(`${when} ${method} ${nth} has handled ${pieces} messages`, async () => {
      const here = await site('embedded')
      const dying = script(SCRIPT, here, { port: 'broker', method, nth, when }, ['consume', 'publish'])
      expect(await dying.exited).to.deep.equal(KILLED)
      expect(await writtenIds(here)).to.deep.equal(COMPANY_IDS.slice(0, pieces))
    })
})

onRealEngines('a process that is killed at RabbitMQ', { AMQP_URL, MONGODB_URL }, () => {
  const { site, script } = useProcesses()

  for (const { nth, when, pieces } of [AFTER])
    it(`${when} publish ${nth} leaves ${pieces} messages in the queue`, async () => {
      const here = await site('real')
      const dying = script(SCRIPT, here, { port: 'broker', method: 'publish', nth, when }, ['publish'])
      expect(await dying.exited).to.deep.equal(KILLED)
      expect(await consumeIds(here, pieces)).to.deep.equal(COMPANY_IDS.slice(0, pieces))
    })

  for (const { nth, when, pieces } of [BEFORE])
    it(`${when} handling ${nth} has handled ${pieces} messages, and that message comes again`, async () => {
      const here = await site('real')
      await withEngines(here, async ({ broker }) => {
        for (const id of COMPANY_IDS) await broker.publish(QUEUE, { id, body: {} })
      })
      const dying = script(SCRIPT, here, { port: 'broker', method: 'handle', nth, when }, ['consume'])
      expect(await dying.exited).to.deep.equal(KILLED)
      expect(await writtenIds(here)).to.deep.equal(COMPANY_IDS.slice(0, pieces))
      expect((await consumeIds(here, 6 - nth)).sort()).to.deep.equal(COMPANY_IDS.slice(nth - 1))
    })

  /** Consumes the queue until `expected` messages came. */
  const consumeIds = (here: Site, expected: number): Promise<string[]> =>
    withEngines(here, async ({ broker }) => {
      const seen: string[] = []
      const handle = async (waiting: DeliveredMessage[]) => {
        seen.push(...waiting.map(({ id }) => id))
        return waiting.map(done)
      }
      const consumer = await broker.consume(QUEUE, handle, ONE_BY_ONE)
      await eventually(() => expect(seen).to.have.length(expected))
      await consumer.stop()
      expect((await broker.depth(QUEUE)).ready).to.equal(0)
      return seen
    })
})

onEachEngineSet('the whole composition', engines => {
  const { site, crashing } = useProcesses()
  const echo = async (url: string): Promise<number | 'cut'> =>
    fetch(`${url}/echo/hello`).then(
      response => response.status,
      () => 'cut',
    )

  it('works again after it was killed during a call and restarted', async () => {
    const here = await site(engines)
    const point: CrashPoint = { port: 'broker', method: 'handle', queue: 'otp.calls', nth: 2, when: 'before' }
    const dying = crashing(here, { point, services: ECHO_SERVICES })
    const url = await dying.ready()
    expect(await echo(url)).to.equal(200)
    expect(await echo(url)).to.equal('cut')
    expect(await dying.exited).to.deep.equal(KILLED)
    expect(await echo(await crashing(here, { services: ECHO_SERVICES }).ready())).to.equal(200)
  })

  it('that is killed while it applies its bootstrap file finishes it at the next start', async () => {
    const here = await site(engines)
    const companies = COMPANY_IDS.map(id => ({ id, apps: [{ id: id.replace('cmp', 'app') }] }))
    const env = { BOOTSTRAP_FILE: await here.write('bootstrap.json', { companies }) }
    const point: CrashPoint = { port: 'store', method: 'apps.insert', nth: 1, when: 'before' }
    const dying = crashing(here, { point, env, services: ECHO_SERVICES })
    expect(await dying.exited).to.deep.equal(KILLED)
    const next = crashing(here, { env, services: ECHO_SERVICES })
    await next.ready()
    next.process.kill('SIGTERM')
    expect(await next.exited).to.deep.equal({ code: 0, signal: null })
    const ids = companies.flatMap(({ apps }) => apps.map(({ id }) => id))
    const apps = await withEngines(here, ({ store }) => store.docs('apps').get(ids))
    expect([...apps.keys()]).to.have.members(ids)
  })
})

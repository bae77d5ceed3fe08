// Engines that are frozen (SIGSTOP): every connection stays open, and no answer comes.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import type { Check } from '../../../infra/http/health.ts'
import { AMQP_URL, ENGINES_DIR, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { ECHO_SERVICES, useProcesses } from '../../support/processes.ts'
import { untilReady } from '../../support/ready.ts'

onRealEngines('a process whose engine is frozen', { AMQP_URL, MONGODB_URL, ENGINES_DIR }, () => {
  const frozen: number[] = []
  function thaw(): void {
    for (const pid of frozen.splice(0)) process.kill(pid, 'SIGCONT')
  }
  // Before the sites are wiped, which needs the engines.
  afterEach(thaw)
  const { site, crashing } = useProcesses()

  async function freeze(engine: string): Promise<void> {
    const folder = ENGINES_DIR ?? ''
    const files = (await readdir(folder)).filter(name => name.startsWith(engine) && name.endsWith('.pid'))
    for (const file of files) frozen.push(Number(await readFile(join(folder, file), 'utf8')))
    expect(frozen).to.not.be.empty
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  }

  for (const [engine, check, detail] of [
    ['mongodb', 'store', 'MongoDB does not answer'],
    ['rabbitmq', 'broker', 'RabbitMQ does not answer'],
  ] as const)
    it(`is not ready while ${engine} is, and ready again when it goes on`, async () => {
      const url = await crashing(await site('real'), { services: ECHO_SERVICES }).ready()
      await freeze(engine)
      await eventually(async () => {
        const answer = await fetch(`${url}/readyz`)
        expect(answer.status).to.equal(503)
        const { checks } = (await answer.json()) as { checks: Check[] }
        expect(checks).to.deep.include({ name: check, ok: false, detail })
      })
      expect((await fetch(`${url}/healthz`)).status).to.equal(200)
      thaw()
      await untilReady(url)
    })
})

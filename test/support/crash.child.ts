// A process that works until it is killed at the call that CRASH names, for crash.test.ts. It prints each company it has finished. Its
// arguments say what it does, in this order:
//   write      inserts five companies, one after the other          consume    inserts a company for every message
//   publish    publishes five messages, one after the other
import process from 'node:process'
import { done } from '../../infra/broker/broker.ts'
import { systemClock } from '../../infra/clock.ts'
import { openBareEngines } from './bare-engines.ts'
import { readCrashPoint, withCrash } from './crash.ts'
import { COMPANY_IDS, company, ONE_BY_ONE, QUEUE } from './crash.work.ts'

const { broker, store } = withCrash(await openBareEngines(process.env), readCrashPoint(process.env))
const tasks = new Set(process.argv.slice(2))
const print = (id: string): void => {
  process.stdout.write(`${id}\n`)
}
const insert = (id: string) => store.docs('companies').insert([company(id)])

// The broker refuses publishes until it is connected.
while (broker.state() !== 'up') await new Promise(resolve => systemClock.after(10, () => resolve(null)))
if (tasks.has('write'))
  for (const id of COMPANY_IDS) {
    await insert(id)
    print(id)
  }
if (tasks.has('consume'))
  await broker.consume(
    QUEUE,
    async waiting => {
      for (const { id } of waiting) await insert(id)
      return waiting.map(done)
    },
    ONE_BY_ONE,
  )
if (tasks.has('publish'))
  for (const id of COMPANY_IDS) {
    await broker.publish(QUEUE, { id, body: {} })
    print(id)
  }
if (!tasks.has('consume')) {
  await broker.close()
  await store.close()
}

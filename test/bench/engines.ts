// Measures the ports alone, on each engine set. Figures depend on the machine; ratios say something about the code.
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import { measureBroker } from './broker.ts'
import { type EngineSet, embeddedEngines, realEngines } from './engine-sets.ts'
import { BENCH_COLLECTIONS } from './samples.ts'
import { measureStore } from './store.ts'

export default async function engines(): Promise<void> {
  await measure(embeddedEngines)
  if (MONGODB_URL && AMQP_URL) await measure(realEngines(MONGODB_URL, AMQP_URL))
  else console.log('\nFor RabbitMQ and MongoDB as well: infra/engines.sh run npm run bench -- engines')
}

async function measure(set: EngineSet): Promise<void> {
  console.log(`\n${set.title}`)
  await useAndClose(await set.broker(), measureBroker)
  await useAndClose(await set.store(BENCH_COLLECTIONS), measureStore)
}

async function useAndClose<T extends { close(): Promise<void> }>(
  opened: T,
  use: (opened: T) => Promise<void>,
): Promise<void> {
  try {
    await use(opened)
  } finally {
    await opened.close()
  }
}

// A process with an embedded store, for store.embedded.test.ts. It writes without end, as fast as it can, and prints every acknowledged
// write:
//   inserted <id>…      changed <id> <rev>      counted <n>
// SIGUSR2 makes a copy beside the folder, and prints `copied <n>`.
import process from 'node:process'
import { systemClock } from '../../../infra/clock.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'

const { folder = '', round = '0' } = process.env
const print = (...words: unknown[]): void => {
  process.stdout.write(`${words.join(' ')}\n`)
}

const store = createEmbeddedStore({ folder, collections: CONTRACT_COLLECTIONS, clock: systemClock })
const things = store.docs('things')
const counters = store.docs('counters')
print('open')

let copies = 0
process.on('SIGUSR2', async () => {
  copies += 1
  const copy = copies
  print('copying', copy)
  await store.copyTo(`${folder}.copy${copy}`)
  print('copied', copy)
})

let created = 0
// Large enough that the log is written back into the database every few hundred documents.
const next = () => ({ _id: `r${round}-${++created}`, rev: 1, group: 'g', rank: created, data: 'x'.repeat(1_000) })

async function insert(count: number): Promise<string[]> {
  const docs = Array.from({ length: count }, next)
  await things.insert(docs)
  print('inserted', ...docs.map(doc => doc._id))
  return docs.map(doc => doc._id)
}

async function singles(): Promise<never> {
  for (;;) await insert(1)
}

async function batches(): Promise<never> {
  for (;;) await insert(25)
}

async function changes(): Promise<never> {
  const [_id = ''] = await insert(1)
  for (let rev = 1; ; rev++) {
    await things.change([{ _id, rev, update: { $set: { n: rev } } }])
    print('changed', _id, rev + 1)
  }
}

async function counts(): Promise<never> {
  for (;;) {
    const counter = await counters.modify({ _id: 'all' }, { $inc: { n: 1 } }, { upsert: true })
    print('counted', counter?.n)
  }
}

await Promise.all([singles(), singles(), singles(), batches(), changes(), changes(), counts()])

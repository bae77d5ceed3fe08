// Files that run in parallel share worker processes, and mocha does not look there for what a serial run would show: a rejection
// that nobody handles, and something left open that keeps the process from ending. These hooks look for both in each file.
import process from 'node:process'
import { expect } from 'chai'
import { eventually } from './eventually.ts'

const IN_WORKER = process.env.MOCHA_WORKER_ID !== undefined
let openBefore: string[] = []

const complain = (reason: unknown): never => {
  throw reason
}

/** What keeps this process from ending, by kind. In a hook that includes mocha's own timer of the hook. */
async function open(): Promise<string[]> {
  // A timer that has just fired is still counted.
  await new Promise(resolve => setImmediate(resolve))
  return process.getActiveResourcesInfo()
}

/** Without what an earlier file left, which was told there. */
async function openSince(): Promise<string[]> {
  const before = [...openBefore]
  return (await open()).filter(kind => {
    const at = before.indexOf(kind)
    if (at >= 0) before.splice(at, 1)
    return at < 0
  })
}

export const mochaHooks: Mocha.RootHookObject = {
  async beforeAll() {
    if (!IN_WORKER) return
    // A worker removes it after each file.
    process.on('unhandledRejection', complain)
    openBefore = await open()
  },
  async afterAll() {
    if (IN_WORKER) await eventually(async () => expect(await openSince(), 'left open').to.deep.equal([]))
  },
}

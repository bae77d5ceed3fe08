// Test files that run in parallel share worker processes. There mocha does not notice what a serial run shows: an unhandled rejection,
// and an open handle that keeps the process from ending. These hooks look for both after each file.
import process from 'node:process'
import { expect } from 'chai'
import { eventually } from './eventually.ts'

const IN_WORKER = process.env.MOCHA_WORKER_ID !== undefined
let openBefore: string[] = []

const rethrow = (reason: unknown): never => {
  throw reason
}

/** The kinds of open handles that keep this process from ending. In a hook they include mocha's own timer of that hook. */
async function open(): Promise<string[]> {
  // A timer that has just fired is still counted.
  await new Promise(resolve => setImmediate(resolve))
  return process.getActiveResourcesInfo()
}

/** Handles that an earlier file left open are not counted: the hook of that file reported them. */
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
    // mocha's worker removes this listener after each file.
    process.on('unhandledRejection', rethrow)
    openBefore = await open()
  },
  async afterAll() {
    if (IN_WORKER) await eventually(async () => expect(await openSince(), 'left open').to.deep.equal([]))
  },
}

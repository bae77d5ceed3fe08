// Test files that run in parallel share worker processes. There mocha does not notice what a serial run shows: an unhandled rejection,
// and an open handle that keeps the process from ending. These hooks look for both after each file.
import process from 'node:process'
import { expect } from 'chai'
import { eventually } from './eventually.ts'

const IN_WORKER = process.env.MOCHA_WORKER_ID !== undefined
/** Short: where one helper leaves something open, every file waits for it. */
const LONGEST_CLOSING_MS = 30_000
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

async function openedSince(earlier: readonly string[]): Promise<string[]> {
  const before = [...earlier]
  return (await open()).filter(kind => {
    const at = before.indexOf(kind)
    if (at >= 0) before.splice(at, 1)
    return at < 0
  })
}

interface Kept {
  close(): Promise<unknown>
}

const kept: Kept[] = []
const closings: (() => Promise<unknown>)[] = []

/** Closes what the tests of a file share, after the last of them. */
export const afterFile = (close: () => Promise<unknown>): void => void closings.push(close)

/** Opens what the files of this process share, such as a browser. Its handles are not counted; it is closed after the last file, and in a
 *  worker it has to go when the process exits. */
export async function keepOpen<T extends Kept>(opening: () => Promise<T>): Promise<T> {
  const before = await open()
  const opened = await opening()
  openBefore.push(...(await openedSince(before)))
  kept.push(opened)
  return opened
}

export const mochaHooks: Mocha.RootHookObject = {
  async beforeAll() {
    if (!IN_WORKER) return
    // mocha's worker removes this listener after each file.
    process.on('unhandledRejection', rethrow)
    openBefore = await open()
  },
  async afterAll() {
    await Promise.all(closings.splice(0).map(close => close()))
    // Handles that an earlier file left open are not counted: the hook of that file reported them.
    if (IN_WORKER)
      await eventually(
        async () => expect(await openedSince(openBefore), 'left open').to.deep.equal([]),
        LONGEST_CLOSING_MS,
      )
    else await Promise.all(kept.splice(0).map(one => one.close()))
  },
}

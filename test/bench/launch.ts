// Starts the processes that are measured, as in a deployment: compiled, on plain Node.
import { join } from 'node:path'
import process from 'node:process'
import { type Child, spawnChild } from '../support/child.ts'

/** BENCH_NODE_FLAGS takes, for example, `--cpu-prof --cpu-prof-dir=…` for a profile of each process. */
const FLAGS = process.env.BENCH_NODE_FLAGS?.split(' ') ?? []

export interface LaunchOptions {
  /** The compiled files of another checkout's bench. */
  folder?: string
  /** More flags of Node. */
  flags?: readonly string[]
}

/** Starts a file of this folder as a process. `name` is the file's name without its ending. */
export const launchProcess = (
  name: string,
  env: Record<string, string>,
  args: string[] = [],
  { folder = import.meta.dirname, flags = [] }: LaunchOptions = {},
): Child => spawnChild(join(folder, `${name}.js`), env, args, [...FLAGS, ...flags])

/** Where a process answers, once it says so. */
export const addressOf = async (child: Child): Promise<string> =>
  JSON.parse(await child.waitForLine(line => line.startsWith('{"url"'))).url

/** Where a process of Countersign answers, once it takes work. */
export async function waitUntilReady(child: Child): Promise<string> {
  const url = await addressOf(child)
  while (!(await fetch(`${url}/readyz`)).ok) await new Promise(resolve => setTimeout(resolve, 100))
  return url
}

export async function stopProcess({ process, exited }: Child): Promise<void> {
  process.kill('SIGTERM')
  await exited
}

// Compiles and starts the processes that are measured, so that they run as in a deployment: on plain Node. The output is beside that
// of the product.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { type Child, spawnChild } from '../support/child.ts'

const ROOT = join(import.meta.dirname, '../..')

export async function build(): Promise<void> {
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', import.meta.dirname])
}

/** BENCH_NODE_FLAGS takes, for example, `--cpu-prof --cpu-prof-dir=…` for a profile of each process. */
const FLAGS = ['--expose-gc', ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? [])]

/** Starts a file of this folder as a process. `name` is the file's name without its ending. */
export const launchProcess = (name: string, env: Record<string, string>, args: string[] = []): Child =>
  spawnChild(join(ROOT, 'dist/bench/test/bench', `${name}.js`), env, args, FLAGS)

// Processes that are measured run as they run in a deployment: compiled, on plain Node. The compiler's output is beside that of
// the product.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { type Child, spawnChild } from '../support/child.ts'

const ROOT = join(import.meta.dirname, '../..')

export async function build(): Promise<void> {
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', import.meta.dirname])
}

/** For a profile of each process: `--cpu-prof --cpu-prof-dir=…`. */
const FLAGS = ['--expose-gc', ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? [])]

/** A file of this folder as a process of its own, named without its ending. */
export const launchProcess = (name: string, env: Record<string, string>, args: string[] = []): Child =>
  spawnChild(join(ROOT, 'dist/bench/test/bench', `${name}.js`), env, args, FLAGS)

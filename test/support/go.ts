// Go for tests of the examples. In: a command of docs/examples/go. Out: its program, built. Without Go such a suite
// fails and says so, unless SKIP_GO=1.
import { join } from 'node:path'
import process from 'node:process'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { HAS_GO, succeed } from './interpreters.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

export const GO_EXAMPLES = join(PROJECT_ROOT, 'docs/examples/go')

/** In a `before` of the suite. */
export function needGo(suite: Mocha.Context): void {
  if (HAS_GO) return
  if (process.env.SKIP_GO !== '1') throw new Error('go is needed; SKIP_GO=1 skips these tests')
  console.log('skipped: go is needed')
  suite.skip()
}

/** Vetted and built, from a copy of the examples where one is given. Returns the program. */
export async function buildGo(name: string, folder = GO_EXAMPLES): Promise<string> {
  const program = join(createTemporaryFolder(), name)
  // The examples need nothing but the standard library.
  const options = { cwd: folder, env: { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' } }
  await succeed('go', ['vet', `./${name}`], options)
  await succeed('go', ['build', '-o', program, `./${name}`], options)
  return program
}

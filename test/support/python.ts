// Python for tests that use the client in clients/python as its users do: built, installed and typed. In: packages. Out: environments, and
// the client as a wheel. Without Python such a suite fails and says what is missing, unless SKIP_PYTHON=1.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { run, succeed } from './interpreters.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

/** Pinned: the same versions make the same complaints. They are kept in the user's cache, because installing them takes
 *  longer than the tests. */
const TOOLS = ['build==1.6.1', 'hatchling==1.33.0', 'mypy==2.4.1']
export const PYTEST = ['pytest==9.2.0', 'trio==0.35.0']

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'countersign')
const OLDEST = [3, 10]

/** In a `before` of the suite. */
export async function needPython(suite: Mocha.Context): Promise<void> {
  const probe = `import pip, sys, venv; sys.exit(sys.version_info < (${OLDEST.join(', ')}))`
  if ((await run('python3', ['-c', probe])).code === 0) return
  const missing = `python3, ${OLDEST.join('.')} or newer, with pip and venv is needed (apt-get install python3-pip python3-venv)`
  if (process.env.SKIP_PYTHON !== '1') throw new Error(`${missing}; SKIP_PYTHON=1 skips these tests`)
  console.log(`skipped: ${missing}`)
  suite.skip()
}

/** A fresh environment with these packages alone. Returns the folder of its commands. */
export async function createEnvironment(
  packages: readonly string[],
  folder = createTemporaryFolder(),
): Promise<string> {
  // --without-pip: Debian's python3 cannot install pip there, and the system's pip can install into the environment.
  await succeed('python3', ['-m', 'venv', '--without-pip', folder])
  const install = [
    '-m',
    'pip',
    '--python',
    folder,
    'install',
    '-q',
    '--disable-pip-version-check',
    '--no-warn-script-location',
  ]
  await succeed('python3', [...install, ...packages])
  return join(folder, 'bin')
}

/** Runs a module of the tools, such as mypy. */
export async function runTool(module: string, args: readonly string[]): Promise<string> {
  const folder = join(CACHE, ['python', ...TOOLS].join('-').replaceAll('==', '-'))
  if (!existsSync(folder)) {
    // Another file of tests may be installing them too: the first that is complete is kept.
    const ours = `${folder}.${process.pid}`
    await createEnvironment(TOOLS, ours)
    if (existsSync(folder)) rmSync(ours, { recursive: true })
    else renameSync(ours, folder)
  }
  return succeed(join(folder, 'bin/python'), ['-m', module, ...args])
}

/** Builds sdist and wheel of the client, the wheel from the sdist. Returns the wheel, and the names of both. */
export async function buildClient(): Promise<{ wheel: string; names: string[] }> {
  const folder = createTemporaryFolder()
  await runTool('build', ['--no-isolation', '--outdir', folder, join(PROJECT_ROOT, 'clients/python')])
  const names = readdirSync(folder).sort()
  const wheel = names.find(name => name.endsWith('.whl')) ?? ''
  return { wheel: join(folder, wheel), names }
}

// Runs mocha on the compiled tests. In: what follows `npm test --`: test files and folders as they stand in the repository, and options
// of mocha. Without files it runs all tests but those that have commands of their own, and of these the ones in the folders that
// `--also=<folder>` names. Out: mocha's output and exit code.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import process from 'node:process'
import { PROJECT_ROOT } from '../infra/web/built-site.ts'
import { compiledFile } from './support/compiled.ts'
import { dropDatabasesOfRun } from './support/databases.ts'
import { MONGODB_URL } from './support/engines.ts'

const FAULTS = 'test/faults/'
/** Run by commands of their own: `npm run test:browser`, `test:faults`, `test:python`, `test:runtimes`, `test:examples`. */
const APART = ['test/browser/', FAULTS, 'test/clients/python/', 'test/clients/runtimes/', 'test/examples/']
/** These stop, freeze or reconfigure the engines, which all tests share, so they run one after the other. */
const ENGINE_FAULTS = `${FAULTS}engines/`

/** They start first, slowest first, so that no slow file runs alone at the end. A file that is missing here costs minutes, no test. */
const SLOW_FILES = [
  'faults/processes/delivery',
  'faults/processes/process.start-problems',
  'faults/processes/process',
  'faults/processes/channel.crash',
  'faults/processes/webhooks',
  'faults/processes/report-events',
  'flow/provider-failover',
  'browser/docs',
  'faults/processes/rotation',
  'faults/processes/crash',
  'faults/processes/burst',
  'browser/team',
  'faults/processes/holds',
  'faults/processes/caps',
  'services/cli/cli',
  'flow/address-lists',
  'browser/try',
  'contract/broker.amqp',
  'browser/webhook',
  'flow/fraud',
  'flow/vendors',
  'browser/limits',
  'browser/overview',
  'browser/providers',
  'flow/reference-samples',
  'flow/lost-messages',
  'flow/sign-in',
  'services/dashboard/verifications/search',
  'flow/queues',
  'flow/wrong-codes',
  'flow/stats',
].map(name => `test/${name}.test.ts`)

const isPath = (word: string): boolean =>
  !word.startsWith('-') && statSync(join(PROJECT_ROOT, word), { throwIfNoEntry: false }) !== undefined

/** Sources are listed, not compiled files: of a test that was deleted, the compiled file may still be there. */
function testsUnder(path: string): string[] {
  const place = join(PROJECT_ROOT, path)
  if (statSync(place).isFile()) return [relative(PROJECT_ROOT, place)]
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.ts'))
    .map(name => relative(PROJECT_ROOT, join(place, name)))
    .sort()
}

const isNotApart = (file: string): boolean => !APART.some(folder => file.startsWith(folder))

const slowFirst = (files: readonly string[]): string[] => {
  const slow = SLOW_FILES.filter(file => files.includes(file))
  return [...slow, ...files.filter(file => !slow.includes(file))]
}

const ALSO = '--also='
const words = process.argv.slice(2)
const paths = words.filter(isPath)
const also = words.filter(word => word.startsWith(ALSO)).map(word => word.slice(ALSO.length))
const allFiles = (): string[] => [...testsUnder('test').filter(isNotApart), ...also.flatMap(testsUnder)]
const files = slowFirst(paths.length === 0 ? allFiles() : paths.flatMap(testsUnder))
const inParallel = files.length > 1 && !files.some(file => file.startsWith(ENGINE_FAULTS))
const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const options = [
  ...(inParallel ? ['--parallel', '--jobs=3'] : []),
  ...words.filter(word => !isPath(word) && !word.startsWith(ALSO)),
]
/** The embedded stores of tests stand in memory where the system has such a folder: no test needs what a power failure leaves. */
const MEMORY_FOLDER = '/dev/shm'
const TMPDIR = process.env.TMPDIR ?? (existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir())
const DATABASE_PREFIX = `test_${process.pid}_`
const running = spawn(process.execPath, [mocha, ...options, ...files.map(compiledFile)], {
  cwd: PROJECT_ROOT,
  stdio: 'inherit',
  env: { ...process.env, TMPDIR, DATABASE_PREFIX },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => running.kill(signal))
running.on('close', async (code, signal) => {
  process.exitCode = code ?? (signal === null ? 0 : 1)
  // A test may have stopped MongoDB: what it keeps then says nothing about the tests.
  if (MONGODB_URL)
    await dropDatabasesOfRun(DATABASE_PREFIX).catch(error => console.error(`databases are left: ${error.message}`))
})

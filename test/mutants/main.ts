// Plants faults in copies of a checkout, one at a time, and runs the tests that must find each. Ends with an error when one is not found.
//
//   npm run mutants                          all of them, on the embedded engines; those that need another engine are skipped
//   infra/engines.sh run npm run mutants     all of them; those that do not need RabbitMQ or MongoDB are still tried on the embedded engines
//   npm run mutants -- money retries         those with one of these words in the fault, the file or the tests
//   npm run mutants -- --in ../old           in another checkout, with its own tests; it must be installed
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { CLIENTS } from './clients.ts'
import { EDGE_DASHBOARD } from './edge-dashboard.ts'
import { INFRA_ACTORS } from './infra-actors.ts'
import { MACHINES_OTP_DOMAIN } from './machines-otp-domain.ts'
import { MENDED } from './mended.ts'
import type { Mutant } from './mutant.ts'
import { PYTHON_CLIENT } from './python-client.ts'

const MUTANTS: readonly Mutant[] = [
  ...MACHINES_OTP_DOMAIN,
  ...INFRA_ACTORS,
  ...EDGE_DASHBOARD,
  ...CLIENTS,
  ...MENDED,
  ...PYTHON_CLIENT,
]
const SETTING_OF = { MongoDB: 'MONGODB_URL', RabbitMQ: 'AMQP_URL' } as const
/** A test that a fault makes hang has found it. */
const LONGEST_RUN_MS = 900_000
/** Of the tests of all faults together. */
const LONGEST_HEALTHY_RUN_MS = 1_800_000
const COPIES = 2

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { in: { type: 'string', default: '.' } },
})
const checkout = resolve(options.in)

/** A copy of the checkout as it is now, with its builds, so that only what a fault changes is built again. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'countersign-mutants-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: checkout,
  })
  const files = listed
    .toString()
    .split('\0')
    .filter(file => file !== '' && existsSync(join(checkout, file)))
  for (const file of [...files, 'dist'])
    cpSync(join(checkout, file), join(copy, file), { recursive: true, preserveTimestamps: true, force: true })
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'))
  // A fault leaves names unused.
  const settings = join(copy, 'tsconfig.json')
  writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll(/("noUnused\w+"): true/g, '$1: false'))
  return copy
}

interface Run {
  code: number | null
  output: string
}

const { MONGODB_URL: _mongodb, AMQP_URL: _rabbitmq, ...EMBEDDED } = process.env
const environmentFor = ({ needs }: Pick<Mutant, 'needs'>): NodeJS.ProcessEnv => (needs ? process.env : EMBEDDED)

function runTests(
  folder: string,
  { tests, ...mutant }: Pick<Mutant, 'tests' | 'needs'>,
  longestMs: number,
): Promise<Run> {
  return new Promise(resolveRun => {
    const child = spawn('npm', ['test', '--', '--bail', ...tests], {
      cwd: folder,
      detached: true,
      env: environmentFor(mutant),
    })
    let output = ''
    const keep = (chunk: Buffer): void => {
      output += chunk
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    const timer = setTimeout(() => {
      output += '\nstopped: it took too long; 1 failing\n'
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, longestMs)
    child.on('close', code => {
      clearTimeout(timer)
      resolveRun({ code, output })
    })
  })
}

/** Only failed tests count: a mutant that does not compile shows nothing. */
const failures = ({ code, output }: Run): number => (code === 0 ? 0 : Number(/(\d+) failing/.exec(output)?.[1] ?? 0))

type Verdict = 'found' | 'NOT FOUND' | 'DID NOT RUN'

async function tryMutant(folder: string, mutant: Mutant): Promise<Verdict> {
  const file = join(folder, mutant.file)
  const text = readFileSync(file, 'utf8')
  if (text.split(mutant.original).length !== 2)
    throw new Error(`${mutant.file} does not have it once: ${mutant.original}`)
  writeFileSync(
    file,
    text.replace(mutant.original, () => mutant.planted),
  )
  try {
    const run = await runTests(folder, mutant, LONGEST_RUN_MS)
    if (failures(run) > 0) return 'found'
    if (run.code === 0) return 'NOT FOUND'
    console.log(run.output.split('\n').slice(-40).join('\n'))
    return 'DID NOT RUN'
  } finally {
    writeFileSync(file, text)
  }
}

/** Tests that fail without a fault would find every one. */
async function checkHealthy(folder: string, mutants: readonly Mutant[]): Promise<void> {
  if (mutants.length === 0) return
  const tests = [...new Set(mutants.flatMap(mutant => mutant.tests))]
  const healthy = await runTests(folder, { ...mutants[0], tests }, LONGEST_HEALTHY_RUN_MS)
  if (healthy.code === 0) return
  console.log(healthy.output.split('\n').slice(-60).join('\n'))
  throw new Error('the tests fail without a planted fault')
}

const isChosen = ({ fault, file, tests }: Mutant): boolean =>
  words.length === 0 || words.some(word => [fault, file, ...tests].some(text => text.includes(word)))
const canRun = ({ needs }: Mutant): boolean => needs === undefined || Boolean(process.env[SETTING_OF[needs]])

const chosen = MUTANTS.filter(isChosen)
const waiting = chosen.filter(canRun)
for (const { needs, fault } of chosen.filter(mutant => !canRun(mutant)))
  console.log(`skipped, needs ${needs}: ${fault}`)

const verdicts: Verdict[] = []

async function work(folder: string): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const began = performance.now()
    const verdict = await tryMutant(folder, mutant)
    verdicts.push(verdict)
    const seconds = Math.round((performance.now() - began) / 1000)
    console.log(`${verdict}: ${mutant.fault} (${mutant.file}, ${seconds} s)`)
  }
}

const folders = Array.from({ length: COPIES }, copyCheckout)
try {
  await checkHealthy(
    folders[0] ?? '',
    waiting.filter(({ needs }) => needs === undefined),
  )
  await checkHealthy(
    folders[0] ?? '',
    waiting.filter(({ needs }) => needs !== undefined),
  )
  await Promise.all(folders.map(work))
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
const found = verdicts.filter(verdict => verdict === 'found').length
console.log(`\n${found} of ${verdicts.length} planted faults were found`)
process.exitCode = found === verdicts.length ? 0 : 1

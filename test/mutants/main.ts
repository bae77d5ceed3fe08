// Plants faults in compiled copies of this checkout, one at a time, and runs the tests that must find each. Ends with an error when one is
// not found. A fault is planted in compiled code, so nothing is built again.
//
//   npm run mutants                          all of them, on the embedded engines; those that need another engine are skipped
//   infra/engines.sh run npm run mutants     all of them; those that do not need RabbitMQ or MongoDB are still tried on the embedded engines
//   npm run mutants -- money retries         those with one of these words in the fault, the rule, the file or the tests
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { FAULTS, type Fault } from './faults.ts'
import { plantFault } from './plant.ts'

const SETTING_OF = { MongoDB: 'MONGODB_URL', RabbitMQ: 'AMQP_URL' } as const
/** A test that a fault makes hang has found it. */
const LONGEST_RUN_MS = 240_000
/** Of the tests of all faults together. */
const LONGEST_HEALTHY_RUN_MS = 900_000
const COPIES = 2

/** What the tests read: sources, and what is compiled. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'countersign-mutants-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']).toString()
  const files = listed.split('\0').filter(file => file !== '' && existsSync(file))
  for (const file of [...files, 'dist']) cpSync(file, join(copy, file), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  return copy
}

interface Run {
  code: number | null
  output: string
}

const { MONGODB_URL: _mongodb, AMQP_URL: _rabbitmq, ...EMBEDDED } = process.env

type Tests = Pick<Fault, 'tests' | 'needs' | 'only'>

function runTests(folder: string, { tests, needs, only }: Tests, longestMs: number): Promise<Run> {
  return new Promise(resolve => {
    const files = tests.map(name => `test/${name}.test.ts`)
    const args = ['dist/test/run.js', '--bail', ...(only === undefined ? [] : [`--grep=${only}`]), ...files]
    const child = spawn(process.execPath, args, { cwd: folder, detached: true, env: needs ? process.env : EMBEDDED })
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
      resolve({ code, output })
    })
  })
}

/** Only failed tests count: a fault with which the files do not load shows nothing. */
const failures = ({ code, output }: Run): number => (code === 0 ? 0 : Number(/(\d+) failing/.exec(output)?.[1] ?? 0))

const lastLines = ({ output }: Run): string => output.split('\n').slice(-40).join('\n')

type Verdict = 'found' | 'NOT FOUND' | 'DID NOT RUN'

async function tryFault(folder: string, planted: Fault): Promise<Verdict> {
  const file = join(folder, 'dist', `${planted.file}.js`)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, plantFault(text, planted.name, planted.plant))
  try {
    const run = await runTests(folder, planted, LONGEST_RUN_MS)
    if (failures(run) > 0) return 'found'
    if (run.code === 0) return 'NOT FOUND'
    console.log(lastLines(run))
    return 'DID NOT RUN'
  } finally {
    writeFileSync(file, text)
  }
}

/** Tests that fail without a fault would find every one. */
async function checkHealthy(folder: string, tests: Tests): Promise<void> {
  if (tests.tests.length === 0) return
  const healthy = await runTests(folder, tests, LONGEST_HEALTHY_RUN_MS)
  if (healthy.code === 0) return
  console.log(lastLines(healthy))
  throw new Error('the tests fail without a planted fault')
}

const words = process.argv.slice(2)
const chosen = Object.entries(FAULTS).flatMap(([rule, faults]) =>
  faults.filter(({ fault, file, tests }) => {
    const texts = [rule, fault, file, ...tests]
    return words.length === 0 || words.some(word => texts.some(text => text.includes(word)))
  }),
)
const canRun = ({ needs }: Fault): boolean => needs === undefined || Boolean(process.env[SETTING_OF[needs]])
for (const { needs, fault } of chosen.filter(one => !canRun(one))) console.log(`skipped, needs ${needs}: ${fault}`)
const waiting = chosen.filter(canRun)
// Before any test runs: a place that is not found is told at once.
for (const { file, name, plant, fault } of chosen)
  try {
    plantFault(readFileSync(`dist/${file}.js`, 'utf8'), name, plant)
  } catch (error) {
    throw new Error(`cannot plant "${fault}" in ${name || 'the file'} of ${file}`, { cause: error })
  }

const verdicts: Verdict[] = []

async function work(folder: string): Promise<void> {
  for (let planted = waiting.shift(); planted !== undefined; planted = waiting.shift()) {
    const began = performance.now()
    const verdict = await tryFault(folder, planted)
    verdicts.push(verdict)
    console.log(`${verdict}: ${planted.fault} (${planted.file}, ${Math.round((performance.now() - began) / 1000)} s)`)
  }
}

const folders = Array.from({ length: COPIES }, copyCheckout)
try {
  const [together, alone] = [false, true].map(isReal => waiting.filter(({ needs }) => (needs !== undefined) === isReal))
  await checkHealthy(folders[0] ?? '', { tests: [...new Set(together?.flatMap(({ tests }) => tests))] })
  for (const one of alone ?? []) await checkHealthy(folders[0] ?? '', one)
  await Promise.all(folders.map(work))
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
const found = verdicts.filter(verdict => verdict === 'found').length
console.log(`\n${found} of ${verdicts.length} planted faults were found`)
process.exitCode = found === verdicts.length ? 0 : 1

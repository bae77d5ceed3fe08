// `npm run test:compat`: Twilio's own libraries against Countersign, with the very samples that the dashboard and the docs show. They are
// installed once, in the user's cache: with what they need they take 29 MB and 80 MB, too much for everyone who runs `npm install`.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { twilioNodeSample, twilioPythonSample } from '../../services/domain/tenancy/twilio-samples.ts'
import { twilioSid } from '../../services/domain/tenancy/twilio-sids.ts'
import { freshNumber, startFlow } from '../support/flow.ts'
import { NODE_PROGRAM, PYTHON_PROGRAM } from './programs.ts'

const run = promisify(execFile)
const VERSIONS = { node: '6.2.0', python: '9.13.0' }
const cache = process.env.COMPAT_TOOLS ?? join(homedir(), '.cache', 'countersign', 'twilio')
const [nodeFolder, pythonFolder] = [join(cache, `node-${VERSIONS.node}`), join(cache, `python-${VERSIONS.python}`)]
const python = join(pythonFolder, 'bin', 'python')

async function install(): Promise<void> {
  if (!existsSync(join(nodeFolder, 'node_modules', 'twilio', 'package.json'))) {
    await mkdir(nodeFolder, { recursive: true })
    const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', '--prefix', nodeFolder, ...options, `twilio@${VERSIONS.node}`])
  }
  if (!existsSync(join(pythonFolder, 'complete'))) {
    await run('python3', ['-m', 'venv', '--without-pip', pythonFolder])
    const options = ['-q', '--disable-pip-version-check']
    await run('python3', ['-m', 'pip', '--python', pythonFolder, 'install', ...options, `twilio==${VERSIONS.python}`])
    await writeFile(join(pythonFolder, 'complete'), '')
  }
}

await install()
const flow = await startFlow({ engines: 'embedded' })
try {
  const { company, app, server } = await flow.createTenant({ resend_cooldown_seconds: [0], send_attempts: 2 })
  const { url } = flow.countersign
  const access = { url, account_sid: twilioSid('cmp', company), service_sid: twilioSid('app', app) }
  const env = () => ({
    ...process.env,
    COUNTERSIGN_KEY: server.key,
    COUNTERSIGN_URL: url,
    ADMIN_TOKEN: flow.countersign.secrets.adminTokens[0]?.token ?? '',
    TO: freshNumber(),
    OTHER: freshNumber(),
  })
  const nodeFile = join(nodeFolder, 'program.mjs')
  await writeFile(nodeFile, `${twilioNodeSample(access)}\n${NODE_PROGRAM}`)
  process.stdout.write((await run('node', [nodeFile], { env: env() })).stdout)
  const pythonFile = join(pythonFolder, 'program.py')
  await writeFile(pythonFile, `${twilioPythonSample(access)}\n${PYTHON_PROGRAM}`)
  process.stdout.write((await run(python, [pythonFile], { env: env() })).stdout)
} finally {
  await flow.stop()
}

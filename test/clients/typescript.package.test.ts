// The package of the TypeScript client, packed and installed as a user has it: what is in it, how it is typed, and where it runs.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { hasCommand, run } from '../support/interpreters.ts'
import { installTypescriptClient } from '../support/typescript-package.ts'

/** A user's program. Lines that must not compile say so. */
const PROGRAM = `
import { Countersign, CountersignError, ResendCooldownError, verifyWebhook, type Verification } from 'countersign'

declare const process: { env: Record<string, string | undefined> }
const { KEY = '', URL = '', RECIPIENT = '', TOKEN = '' } = process.env
const countersign = new Countersign({ key: KEY, baseUrl: URL })
const verification: Verification = await countersign.send({ recipient: RECIPIENT, client_ip: null }, { idempotencyKey: RECIPIENT })
const { otp_id } = verification
try {
  await countersign.resend({ otp_id })
} catch (error) {
  if (!(error instanceof ResendCooldownError) || !(error instanceof CountersignError)) throw error
  console.log(error.type, error.retry_after satisfies number | null)
}
const inbox = await fetch(URL + '/admin/v1/sandbox/messages?recipient=' + encodeURIComponent(RECIPIENT), {
  headers: { authorization: 'Bearer ' + TOKEN },
})
const [message] = (await inbox.json()) as { code: string }[]
const { matched, status } = await countersign.verify({ otp_id, code: message?.code ?? '' })
const { message_id } = await countersign.messages.send({ recipient: RECIPIENT, code: 'ABC123' })
if (!message_id.startsWith('msg_')) throw new Error(message_id)
console.log(matched satisfies boolean, status satisfies 'pending' | 'approved' | 'failed' | 'expired' | 'canceled')

export async function receive(rawBody: Uint8Array, headers: Record<string, string | string[] | undefined>): Promise<string> {
  const event = await verifyWebhook(rawBody, headers, ['whsec_a', 'whsec_b'])
  return event.type === 'delivery.failed' ? event.payload.delivery_id : event.id
}

// @ts-expect-error a recipient is text
export const wrongRecipient = () => countersign.send({ recipient: 42 })
// @ts-expect-error routing chooses the channel of a send
export const phantomChannel = () => countersign.send({ recipient: '+442079460156', channel: 'sms' })
// @ts-expect-error there is no such channel
export const wrongChannel = () => countersign.resend({ otp_id, channel: 'pigeon' })
`

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
  },
  files: ['program.ts'],
}

describe('the package of the TypeScript client, on embedded engines', () => {
  let flow: Flow
  let folder: string
  before(async () => {
    const [started, installed] = await Promise.all([startFlow({ engines: 'embedded' }), installTypescriptClient()])
    flow = started
    folder = installed
    writeFileSync(join(folder, 'program.ts'), PROGRAM)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  })
  after(() => flow.stop())

  const runProgram = async (command: string, ...args: string[]): Promise<void> => {
    const { server } = await flow.createTenant()
    const TOKEN = flow.countersign.secrets.adminTokens[0]?.token ?? ''
    const env = { KEY: server.key, URL: flow.countersign.url, RECIPIENT: freshNumber(), TOKEN }
    const { code, output } = await run(command, args, { cwd: folder, env })
    expect({ code, output }).to.deep.equal({ code: 0, output: 'ResendCooldownError 30\ntrue approved\n' })
  }

  it('compiles in a strict program of its user, types of the package included, and runs', async () => {
    const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc')
    const compiled = await run(process.execPath, [tsc, '-p', '.'], { cwd: folder })
    expect(compiled).to.deep.equal({ code: 0, output: '' })
    await runProgram(process.execPath, 'program.js')
  })

  it('runs on Deno', async function () {
    if (!hasCommand('deno', '--version')) this.skip()
    await runProgram('deno', 'run', '--allow-net', '--allow-env', 'program.ts')
  })

  it('can be required by CommonJS', async () => {
    const program = "const { Countersign } = require('countersign'); console.log(Countersign.name)"
    const { code, output } = await run(process.execPath, ['--no-warnings', '--input-type=commonjs', '-e', program], {
      cwd: folder,
    })
    expect({ code, output }).to.deep.equal({ code: 0, output: 'Countersign\n' })
  })

  it('has no dependency, and nothing in it but its program, its types, its licence and its page', () => {
    const root = join(folder, 'node_modules/countersign')
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(manifest).to.not.have.any.keys('dependencies', 'peerDependencies')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name =>
      statSync(join(root, name)).isFile(),
    )
    const unexpected = files.filter(name => !/^(package\.json|README\.md|LICENSE|dist\/[\w-]+\.(js|d\.ts))$/.test(name))
    expect(unexpected).to.deep.equal([])
    expect(files).to.include.members(['README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts'])
  })
})

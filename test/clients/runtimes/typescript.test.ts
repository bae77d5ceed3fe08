// The package of the TypeScript client, packed and installed as a user has it, in runtimes that are too large for
// everyone's `npm install`: Bun and workerd, the runtime of Cloudflare Workers. Their npm packages for one platform
// carry the program. Both run the same module.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { backendOnPort } from '../../support/backend.ts'
import { spawnCommand } from '../../support/child.ts'
import { CACHE_TTL_MS, type Flow, freshNumber, startFlow } from '../../support/flow.ts'
import { run } from '../../support/interpreters.ts'
import { installTypescriptClient } from '../../support/typescript-package.ts'

const { platform, arch } = process
const BUN = `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`
const WORKERD = `@cloudflare/workerd-${platform}-${arch === 'arm64' ? arch : '64'}`
const VERSIONS = { [BUN]: '1.4.4', [WORKERD]: '1.20261110.1' }
/** Known to that workerd. */
const COMPATIBILITY_DATE = '2026-11-01'

/** What a user's program does: a server's calls with their errors, a device's with a challenge, and a webhook. */
const PROGRAM = `
import { Countersign, ResendCooldownError, verifyWebhook, WebhookVerificationError } from 'countersign'

export async function use({ BASE_URL, SERVER_KEY, DEVICE_KEY, RECIPIENT, TOKEN, WEBHOOK }) {
  const server = new Countersign({ key: SERVER_KEY, baseUrl: BASE_URL })
  const { otp_id } = await server.send({ recipient: RECIPIENT }, { idempotencyKey: RECIPIENT })
  const tooEarly = await server.resend({ otp_id }).catch(error => error)
  const headers = { authorization: 'Bearer ' + TOKEN }
  const inbox = await fetch(BASE_URL + '/admin/v1/sandbox/messages?recipient=' + encodeURIComponent(RECIPIENT), { headers })
  const [{ code }] = await inbox.json()
  const { matched, status } = await server.verify({ otp_id, code })
  const device = new Countersign({ key: DEVICE_KEY, baseUrl: BASE_URL })
  const solved = await device.send({ recipient: RECIPIENT })
  const signed = JSON.parse(WEBHOOK)
  const event = await verifyWebhook(signed.body, signed.headers, signed.secret)
  const forged = await verifyWebhook(signed.body + ' ', signed.headers, signed.secret).catch(error => error)
  return {
    tooEarly: tooEarly instanceof ResendCooldownError && tooEarly.retry_after,
    matched,
    status,
    solved: solved.status,
    event: event.type,
    forged: forged instanceof WebhookVerificationError,
  }
}
`
const EXPECTED = {
  tooEarly: 30,
  matched: true,
  status: 'approved',
  solved: 'pending',
  event: 'otp.approved',
  forged: true,
}

describe('the package of the TypeScript client, elsewhere than on Node', () => {
  let flow: Flow
  let folder = ''
  before(async () => {
    folder = await installTypescriptClient(Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`))
    writeFileSync(join(folder, 'program.js'), PROGRAM)
    flow = await startFlow({ engines: 'embedded' })
  })
  after(() => flow?.stop())

  const binary = (of: string, name: string): string => join(folder, 'node_modules', of, 'bin', name)

  async function environment(): Promise<Record<string, string>> {
    const { server, device } = await flow.createTenant({ publishable_challenge: 'always' })
    await flow.advance(CACHE_TTL_MS)
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const body = JSON.stringify({ id: 'evt_1', type: 'otp.approved', payload: { otp_id: 'otp_1', status: 'approved' } })
    const at = new Date()
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
    }
    return {
      BASE_URL: flow.countersign.url,
      SERVER_KEY: server.key,
      DEVICE_KEY: device.key,
      RECIPIENT: freshNumber(),
      TOKEN: flow.countersign.secrets.adminTokens[0]?.token ?? '',
      WEBHOOK: JSON.stringify({ body, headers, secret }),
    }
  }

  it(`runs on Bun ${VERSIONS[BUN]}`, async () => {
    const main = "import { use } from './program.js'\nconsole.log(JSON.stringify(await use(process.env)))\n"
    writeFileSync(join(folder, 'bun.js'), main)
    const { code, output } = await run(binary(BUN, 'bun'), ['bun.js'], { cwd: folder, env: await environment() })
    expect(code, output).to.equal(0)
    expect(JSON.parse(output)).to.deep.equal(EXPECTED)
  })

  it(`runs in a worker of workerd ${VERSIONS[WORKERD]}`, async () => {
    const worker = `import { use } from './program.js'
export default {
  async fetch({ url }, env) {
    if (!url.endsWith('/use')) return new Response('listening')
    return Response.json(await use(env).catch(error => ({ error: String(error?.stack ?? error) })))
  },
}`
    writeFileSync(join(folder, 'worker.js'), worker)
    const bindings = await environment()
    const { process: workerd, url } = await backendOnPort(port => {
      writeFileSync(join(folder, 'workerd.capnp'), configuration(port, bindings))
      return spawnCommand(binary(WORKERD, 'workerd'), ['serve', 'workerd.capnp'], {}, folder)
    })
    try {
      const answer = await fetch(`${await url}/use`)
      expect(await answer.json(), workerd.stderr()).to.deep.equal(EXPECTED)
    } finally {
      workerd.process.kill()
      await workerd.exited
    }
  })

  /** A worker has no file system: its modules are named here, those of the package as its own imports name them. */
  function configuration(port: number, bindings: Record<string, string>): string {
    const dist = 'node_modules/countersign/dist'
    const ofPackage = readdirSync(join(folder, dist)).filter(name => name.endsWith('.js'))
    const modules = [
      ['worker.js', 'worker.js'],
      ['program.js', 'program.js'],
      ...ofPackage.map(name => [name === 'index.js' ? 'countersign' : name, `${dist}/${name}`]),
    ]
    const [moduleList, bindingList] = [
      modules.map(([name, file]) => `(name = "${name}", esModule = embed "${file}")`),
      Object.entries(bindings).map(([name, value]) => `(name = "${name}", text = ${JSON.stringify(value)})`),
    ].map(list => list.join(', '))
    // A worker reaches only public addresses unless it is told otherwise.
    return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["public", "private"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${moduleList}],
  bindings = [${bindingList}],
  compatibilityDate = "${COMPATIBILITY_DATE}",
);
`
  }
})

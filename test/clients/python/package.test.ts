// The Python client as its users get it: built, installed into an environment of its own, checked by mypy, and run by pytest against a
// Countersign on the embedded engines. The tests themselves are the Python files beside this one.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../../infra/web/built-site.ts'
import { type Countersign, startCountersign } from '../../support/countersign.ts'
import { run, succeed } from '../../support/interpreters.ts'
import { buildClient, createEnvironment, needPython, PYTEST, runTool } from '../../support/python.ts'
import { PRINTED, samplesFrom } from '../../support/reference-samples.ts'
import { createRunningClock } from '../../support/running-clock.ts'

const FOLDER = join(PROJECT_ROOT, 'test/clients/python')
const ADMIN_TOKEN = 'python-client-operator'
const NO_COOLDOWN = { resend_cooldown_seconds: [0] }
/** Of the whole app, so that it does not matter how many tests there are. */
const NO_LIMIT = { limits: { app_without_client_ip: [{ max: 1_000_000, seconds: 60 }] } }

const key = (prefix: string, name: string) => ({ id: `key_${name}`, key: `${prefix}_${name}0123456789abcdefghijklmn` })
const KEYS = {
  server: key('sk_test', 'server'),
  no_cooldown: key('sk_test', 'nocooldown'),
  publishable: key('pk_test', 'device'),
  publishable_live: key('pk_live', 'livedevice'),
  with_origins: key('pk_test', 'origins'),
  challenged: key('pk_test', 'challenged'),
}
const app = (id: string, settings: object, keys: object[]) => ({ id, name: 'Shop', settings, keys })
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_acme',
      name: 'Acme',
      apps: [
        app('app_shop', NO_LIMIT, [KEYS.server, KEYS.publishable, KEYS.publishable_live]),
        app('app_nocooldown', NO_COOLDOWN, [KEYS.no_cooldown]),
        app('app_origins', { allowed_origins: ['https://shop.example'] }, [KEYS.with_origins]),
        app('app_challenged', { ...NO_COOLDOWN, publishable_challenge: 'always' }, [KEYS.challenged]),
      ],
    },
  ],
}

describe('the Python client', () => {
  const clock = createRunningClock()
  let bin = ''
  let built: string[] = []

  before(async function () {
    await needPython(this)
    const { wheel, names } = await buildClient()
    built = names
    bin = await createEnvironment([wheel, ...PYTEST])
  })

  it('is built as a wheel, with its license and the mark that it is typed', async () => {
    expect(built.map(name => name.replace(/\d+\.\d+\.\d+/, 'x'))).to.deep.equal([
      'countersign-x-py3-none-any.whl',
      'countersign-x.tar.gz',
    ])
    const list = 'import importlib.metadata as m; print(*sorted(str(f) for f in m.files("countersign")), sep="\\n")'
    const files = (await succeed(join(bin, 'python'), ['-c', list])).split('\n')
    expect(files).to.include('countersign/py.typed')
    expect(files.some(file => file.endsWith('LICENSE'))).to.equal(true)
  })

  it("has types that mypy's strict mode accepts, in itself and in a user's program", async () => {
    const strict = ['--strict', '--cache-dir=/dev/null', '--python-executable', join(bin, 'python')]
    await runTool('mypy', [...strict, join(FOLDER, 'user_program.py')])
    await runTool('mypy', [...strict, '-p', 'countersign'])
  })

  describe('against a running service', () => {
    let countersign: Countersign
    let clockServer: Server

    before(async () => {
      countersign = await startCountersign({
        engines: 'embedded',
        clock,
        bootstrap: BOOTSTRAP,
        env: { ADMIN_TOKEN, CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200' },
      })
      clockServer = createServer(async ({ url = '' }, response) => {
        await clock.advance(Number(new URL(url, 'http://clock').searchParams.get('seconds')) * 1_000)
        response.end()
      }).listen(0, '127.0.0.1')
    })
    after(async () => {
      clockServer?.close()
      await countersign?.stop()
      await countersign?.site.wipe()
    })

    it('is what the samples of the reference call', async () => {
      const { otp_id } = JSON.parse(
        await succeed(join(bin, 'python'), [
          '-c',
          'import json, sys, countersign as c; print(json.dumps(dict(c.Countersign(sys.argv[1], base_url=sys.argv[2]).send("+15005550010").raw)))',
          KEYS.server.key,
          countersign.url,
        ]),
      )
      const samples = await samplesFrom(countersign.url, {
        language: 'python',
        operations: Object.keys(PRINTED.client),
        otpId: otp_id,
      })
      for (const [operation, printed] of Object.entries(PRINTED.client)) {
        const env = { SERVER_KEY: KEYS.server.key }
        const { output } = await run(join(bin, 'python'), ['-c', samples[operation] ?? ''], { env })
        expect(output, operation).to.match(printed)
      }
    })

    it('does what its tests say: pytest', async () => {
      const { port } = clockServer.address() as AddressInfo
      const printed = await succeed(join(bin, 'pytest'), ['-q', '-p', 'no:cacheprovider'], {
        cwd: FOLDER,
        env: {
          PYTHONDONTWRITEBYTECODE: '1',
          PROJECT_ROOT,
          ADMIN_TOKEN,
          COUNTERSIGN_URL: countersign.url,
          CLOCK_URL: `http://127.0.0.1:${port}`,
          KEYS: JSON.stringify(Object.fromEntries(Object.entries(KEYS).map(([name, one]) => [name, one.key]))),
        },
      })
      expect(printed)
        .to.match(/^\d+ passed/m)
        .and.not.match(/skipped|failed/)
    })
  })
})

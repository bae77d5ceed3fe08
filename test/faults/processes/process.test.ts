// Starts and stops of real processes: signals, exit codes, files, engines that come late.
import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Check } from '../../../infra/http/health.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { type MongoBehindProxy, openMongoBehindProxy } from '../../support/mongo.ts'
import { type CountersignProcess, ECHO_SERVICES, useProcesses } from '../../support/processes.ts'
import { promiseState } from '../../support/promise-state.ts'
import { openRabbitBehindProxy } from '../../support/rabbitmq.ts'
import { onEachEngineSet } from '../../support/site.ts'

const STOPPED = { code: 0, signal: null }

describe('a process', () => {
  const { site, main, crashing } = useProcesses()

  it('makes secrets that only its user can read, and uses them again', async () => {
    const here = await site('embedded')
    const file = join(here.env.DATA_DIR ?? '', 'secrets.json')
    const first = main(here)
    await first.ready()
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).to.equal(0o600)
    const { ADMIN_TOKEN } = JSON.parse(await readFile(file, 'utf8'))
    first.process.kill('SIGTERM')
    expect(await first.exited).to.deep.equal(STOPPED)
    const url = await main(here).ready()
    const { status } = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } })
    expect(status).to.equal(200)
  })

  it('stops at Ctrl-C, also when npm forwards the signal a second time', async () => {
    const stopping = main(await site('embedded'))
    await stopping.ready()
    stopping.process.kill('SIGINT')
    stopping.process.kill('SIGINT')
    expect(await stopping.exited).to.deep.equal(STOPPED)
    expect(stopping.stderr()).to.equal('')
  })

  it('says in the log that it stops, why, and how long it took', async () => {
    const stopping = main(await site('embedded'))
    await stopping.ready()
    stopping.process.kill('SIGTERM')
    expect(await stopping.exited).to.deep.equal(STOPPED)
    const [begun, over] = stopping.lines.slice(-2).map(line => JSON.parse(line))
    expect(begun).to.include({ msg: 'countersign.stopping', signal: 'SIGTERM', role: 'all', pid: stopping.process.pid })
    expect(over).to.include({ msg: 'countersign.stopped', role: 'all' })
    expect(over.ms).to.be.within(0, 10_000)
  })

  it('that ends by a bug prints the error, and no properties of it', async () => {
    const bug = `Object.assign(new Error('no way to +447911123456'), { document: ['for', 'anna'].join(' ') })`
    const services = `data:text/javascript,export default {
      otp: () => ({ attach: async () => { setImmediate(() => { throw ${bug} }); return [] } }) }`
    const failing = crashing(await site('embedded'), { services })
    expect(await failing.exited).to.deep.equal({ code: 1, signal: null })
    expect(failing.stderr()).to.match(/^Countersign failed\.\nError: no way to \[phone\]\n +at /)
    expect(failing.stderr()).not.to.contain('for anna')
  })

  it('hides a code in the words of our own messages, in what it prints of a bug', async () => {
    const bug = `new Error('refused: 135790 is your Acme verification code')`
    const services = `data:text/javascript,export default {
      otp: () => ({ attach: async () => { setImmediate(() => { throw ${bug} }); return [] } }) }`
    const failing = crashing(await site('embedded'), { services })
    await failing.exited
    expect(failing.stderr()).to.contain('refused: [hidden] is your')
    expect(failing.stderr()).not.to.contain('135790')
  })

  it('stops while it is still starting', async () => {
    const stopping = main(await site('embedded'))
    await stopping.url()
    stopping.process.kill('SIGTERM')
    expect(await stopping.exited).to.deep.equal(STOPPED)
    expect(stopping.stderr()).to.equal('')
  })
})

describe('a process whose disk is full', () => {
  const { site, main } = useProcesses()

  it('is not ready, says so, and is ready again when there is space', async function () {
    if (process.platform !== 'linux') this.skip() // prlimit is Linux's
    const full = main(await site('embedded'))
    const url = await full.ready()
    // The process may not write a byte to any file, as on a full disk; sockets and pipes are no files.
    const limitFiles = (size: string) =>
      promisify(execFile)('prlimit', [`--pid=${full.process.pid}`, `--fsize=${size}:unlimited`])
    const storeCheck = async () => {
      const answer = await fetch(`${url}/readyz`)
      const { checks } = (await answer.json()) as { checks: Check[] }
      return { status: answer.status, store: checks.find(({ name }) => name === 'store') }
    }
    await limitFiles('0')
    await eventually(async () => {
      const { status, store } = await storeCheck()
      expect(status).to.equal(503)
      expect(store?.ok).to.equal(false)
      expect(store?.detail).to.match(/^SQLite: /)
    })
    await limitFiles('unlimited')
    await eventually(async () => expect((await storeCheck()).status).to.equal(200))
  })
})

onEachEngineSet('a process that is told to stop during a request', engines => {
  const { site, crashing } = useProcesses()

  it('finishes the request, accepts no other, and exits 0', async () => {
    const stopping = crashing(await site(engines), { services: ECHO_SERVICES })
    const url = await stopping.ready()
    const request = await sendHalf(url, '{"word":"hello"}')
    stopping.process.kill('SIGTERM')
    await eventually(async () => expect(await isRefused(url)).to.equal(true))
    expect(await request.finish())
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.match(/\{"echoed":\{"word":"hello"\}\}$/)
    expect(await stopping.exited).to.deep.equal(STOPPED)
  })
})

describe('a process that is told to stop, with STOP_DELAY', () => {
  const { site, crashing } = useProcesses()
  const echo = (url: string) => fetch(`${url}/echo/hello`)

  it('is not ready at once, serves everything until the delay is over, and exits 0', async () => {
    const stopping = crashing(await site('embedded'), { services: ECHO_SERVICES, env: { STOP_DELAY: '3000' } })
    const url = await stopping.ready()
    const since = performance.now()
    stopping.process.kill('SIGTERM')
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).to.equal(503))
    const answer = await echo(url)
    expect(answer.status).to.equal(200)
    expect(await stopping.exited).to.deep.equal(STOPPED)
    expect(performance.now() - since).to.be.above(3_000)
    expect(stopping.stderr()).to.equal('')
  })

  it('takes a signal that comes twice for one, and ends the delay at a later one', async () => {
    const stopping = crashing(await site('embedded'), { services: ECHO_SERVICES, env: { STOP_DELAY: '600000' } })
    const url = await stopping.ready()
    const exited = promiseState(stopping.exited)
    const since = performance.now()
    stopping.process.kill('SIGTERM')
    await eventually(() => {
      stopping.process.kill('SIGTERM')
      expect(exited.state).to.equal('resolved')
    })
    expect(exited.value).to.deep.equal(STOPPED)
    expect(performance.now() - since).to.be.above(1_000)
    expect(await isRefused(url)).to.equal(true)
  })
})

onRealEngines('processes that are restarted one after the other', { AMQP_URL, MONGODB_URL }, () => {
  const { site, crashing } = useProcesses()

  it('refuse no client that asks /readyz', async () => {
    const here = await site('real')
    const start = async () => {
      const running = crashing(here, { services: ECHO_SERVICES, env: { STOP_DELAY: '1000' } })
      return { running, url: await running.ready() }
    }
    const replicas = await Promise.all([start(), start()])
    const client = startClient(() => replicas.map(({ url }) => url))
    try {
      for (const replica of replicas) {
        replica.running.process.kill('SIGTERM')
        expect(await replica.running.exited).to.deep.equal(STOPPED)
        Object.assign(replica, await start())
        const answered = client.answered()
        await eventually(() => expect(client.answered()).to.be.above(answered + 20))
      }
    } finally {
      await client.stop()
    }
    expect(await client.stop()).to.deep.equal([])
  })
})

/** Asks, as a balancer does, every 200 ms which processes are ready, and sends its requests to those only. */
function startClient(urls: () => string[]) {
  const failures: string[] = []
  let ready: string[] = []
  let [answered, stopping] = [0, false]
  const isReady = (url: string): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  async function poll(): Promise<void> {
    while (!stopping) {
      const all = urls()
      const states = await Promise.all(all.map(isReady))
      ready = all.filter((_, index) => states[index])
      await new Promise(resolve => setTimeout(resolve, 200))
    }
  }
  async function request(): Promise<void> {
    for (let n = 0; !stopping; n += 1) {
      const url = ready[n % ready.length]
      const outcome = url === undefined ? null : await fetch(`${url}/echo/hello`).then(({ status }) => status, String)
      if (outcome === 200) answered += 1
      else if (outcome !== null) failures.push(`${outcome}`)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  const loops = Promise.all([poll(), request(), request()])
  return {
    answered: () => answered,
    async stop(): Promise<string[]> {
      stopping = true
      await loops
      return failures
    },
  }
}

/** A POST of which half the body was sent; the server has read its headers. */
async function sendHalf(url: string, body: string): Promise<{ finish(): Promise<string> }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('utf8').on('data', text => {
    received += text
  })
  const ended = new Promise(resolve => socket.once('close', resolve))
  const headers = [
    'Host: test',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ]
  socket.write(`POST /echo HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  const interimAnswer = 'HTTP/1.1 100 Continue\r\n\r\n'
  await eventually(() => expect(received).to.equal(interimAnswer))
  return {
    async finish() {
      socket.write(body.slice(5))
      await ended
      return received.slice(interimAnswer.length)
    },
  }
}

const isRefused = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  )

onRealEngines('a process whose engines are away when it starts', { AMQP_URL, MONGODB_URL }, () => {
  const { site, crashing } = useProcesses()
  let mongo: MongoBehindProxy
  let rabbit: Awaited<ReturnType<typeof openRabbitBehindProxy>>
  beforeEach(async () => {
    mongo = await openMongoBehindProxy()
    rabbit = await openRabbitBehindProxy()
    for (const { proxy } of [mongo, rabbit]) proxy.refuse()
  })
  afterEach(() => Promise.all([mongo.close(), rabbit.proxy.close()]))

  const startProcess = async (): Promise<CountersignProcess> =>
    crashing(await site('real', { MONGODB_URL: mongo.url, AMQP_URL: rabbit.url }), { services: ECHO_SERVICES })

  it('is alive but not ready, and becomes ready when they come', async () => {
    const waiting = await startProcess()
    const url = await waiting.url()
    const status = async (path: string) => (await fetch(`${url}${path}`)).status
    expect(await status('/healthz')).to.equal(200)
    expect(await status('/readyz')).to.equal(503)
    for (const { proxy } of [mongo, rabbit]) proxy.heal()
    await waiting.ready()
    expect(await status('/echo/hello')).to.equal(200)
  })

  it('stops at a signal', async () => {
    const waiting = await startProcess()
    await waiting.url()
    waiting.process.kill('SIGTERM')
    expect(await waiting.exited).to.deep.equal(STOPPED)
    expect(waiting.stderr()).to.equal('')
  })
})

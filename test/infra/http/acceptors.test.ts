import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { type Acceptors, acceptFaster, BUSY_MS, copyHandle, MAX_ACCEPTORS } from '../../../infra/http/acceptors.ts'
import { eventually } from '../../support/eventually.ts'
import { promiseState } from '../../support/promise-state.ts'

/** Of the clock that the test gives, each look at which takes a millisecond. */
const BUSY_TURNS = BUSY_MS
const BACKLOG = 4_096
/** There no handle is copied. */
const isElsewhere = 'Deno' in globalThis || 'Bun' in globalThis

type Copy = typeof copyHandle

describe('a server that many connect to', () => {
  const callers: Socket[] = []
  const closes: (() => Promise<unknown>)[] = []

  /** `copyings`: how many copies each copying made, null while it is under way. `accepted`: those who accepted, by the caller's port. */
  async function startServer({ copy = copyHandle, calmMs }: { copy?: Copy; calmMs?: number } = {}) {
    const copyings: (number | null)[] = []
    const accepted = new Map<number, Socket>()
    const perTurn = countPerTurn()
    const server = createServer((_, response) => void response.end('ok'))
    server.on('connection', (socket: Socket) => {
      perTurn.count()
      accepted.set(socket.remotePort ?? 0, socket)
    })
    await once(server.listen(0, '127.0.0.1', BACKLOG), 'listening')
    let time = 0
    const acceptors: Acceptors = acceptFaster(server, {
      backlog: BACKLOG,
      elapsed: () => {
        time += 1
        return time
      },
      ...(calmMs !== undefined && { calmMs }),
      async copy(...all) {
        const nth = copyings.push(null) - 1
        const copied = await copy(...all)
        copyings[nth] = copied
        return copied
      },
    })
    const closed = new Promise<void>(resolve => server.once('close', () => resolve()))
    const close = (): Promise<unknown> => {
      server.close()
      return Promise.all([closed, acceptors.close()])
    }
    closes.push(close)
    const { port } = server.address() as AddressInfo

    const call = (count: number): Socket[] => {
      const more = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
      callers.push(...more)
      return more
    }
    const allAccepted = () => eventually(() => expect(perTurn.all()).to.equal(callers.length))
    /** Each turn of the event loop brings a connection while so many wait. */
    async function makeBusy(): Promise<void> {
      const before = copyings.length
      for (let n = 0; n < 10 && copyings.length === before; n += 1) {
        call(2 * BUSY_TURNS)
        await allAccepted()
      }
      expect(copyings.length).to.be.greaterThan(before)
      await eventually(() => expect(copyings.at(-1)).to.be.a('number'))
    }
    return { server, port, close, copyings, accepted, perTurn, call, allAccepted, makeBusy }
  }

  const expectRefused = async (port: number): Promise<void> => {
    const socket = connect(port, '127.0.0.1')
    callers.push(socket)
    const failure = await Promise.race([once(socket, 'connect').then(() => 'connected'), once(socket, 'error')]).catch(
      error => [error],
    )
    expect(failure).to.be.an('array')
    expect(failure[0]).to.include({ code: 'ECONNREFUSED' })
  }

  afterEach(async () => {
    for (const socket of callers.splice(0)) socket.destroy()
    await Promise.all(closes.splice(0).map(close => close()))
  })

  it('accepts many of them in a turn of the event loop, and answers each', async function () {
    if (isElsewhere) this.skip()
    const { port, perTurn, copyings, call, allAccepted, makeBusy } = await startServer()
    await makeBusy()
    expect(copyings).to.deep.equal([MAX_ACCEPTORS - 1])
    call(400)
    await allAccepted()
    expect(perTurn.most()).to.be.greaterThan(8).and.at.most(MAX_ACCEPTORS)
    const answers = Array.from({ length: 200 }, async () => (await fetch(`http://127.0.0.1:${port}/`)).text())
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['ok']))
  })

  it('copies nothing for connections that come one by one', async () => {
    const { copyings, call, allAccepted } = await startServer()
    for (let n = 0; n < BUSY_TURNS; n += 1) {
      const [caller] = call(1)
      if (caller) await once(caller, 'connect')
    }
    await allAccepted()
    expect(copyings).to.deep.equal([])
  })

  it('closes the copies when it is calm, keeps their connections, and copies again when it is not', async function () {
    if (isElsewhere) this.skip()
    const { copyings, perTurn, call, allAccepted, makeBusy, accepted } = await startServer({ calmMs: 20 })
    await makeBusy()
    call(400)
    await allAccepted()
    await eventually(async () => {
      perTurn.startAnew()
      call(20)
      await allAccepted()
      expect(perTurn.most()).to.equal(1)
    })
    expect([...accepted.values()].filter(socket => socket.destroyed)).to.deep.equal([])
    if (copyings.length === 1) await makeBusy()
    await eventually(() => expect(copyings).to.not.include(null))
    expect(copyings.length).to.be.greaterThan(1)
    expect(new Set(copyings)).to.deep.equal(new Set([MAX_ACCEPTORS - 1]))
  })

  for (const [why, copy] of Object.entries<Copy>({
    'no process can be started': (server, count, onCopy, signal) =>
      copyHandle(server, count, onCopy, signal, '/no/such/node'),
    'starting a process throws': (server, count, onCopy, signal) =>
      copyHandle(server, count, onCopy, signal, 'a\0name'),
    'only some copies can be made': (server, _, onCopy, signal) => copyHandle(server, 5, onCopy, signal),
  }))
    it(`goes on alone where ${why}`, async () => {
      const { perTurn, copyings, call, allAccepted, makeBusy } = await startServer({ copy })
      await makeBusy()
      expect(copyings[0]).to.be.lessThan(MAX_ACCEPTORS - 1)
      await allAccepted()
      perTurn.startAnew()
      call(100)
      await allAccepted()
      expect(perTurn.most()).to.equal(1)
    })

  it('refuses connections once it is closed, and waits for those that were accepted on copies', async function () {
    if (isElsewhere) this.skip()
    const { port, server, close, call, allAccepted, makeBusy, accepted } = await startServer()
    await makeBusy()
    call(400)
    await allAccepted()
    const onCopy = callers.find(caller => isOfCopy(accepted.get(caller.localPort ?? 0)))
    const closing = promiseState(close())
    // The process that copied the handle listens too until it has died.
    await eventually(() => expectRefused(port))
    for (const caller of callers) if (caller !== onCopy) caller.destroy()
    await eventually(() => expect(server.listening).to.equal(false))
    await eventually(() => expect([...accepted.values()].filter(socket => !socket.destroyed)).to.have.length(1))
    expect(closing.state).to.equal('pending')
    onCopy?.destroy()
    await eventually(() => expect(closing.state).to.equal('resolved'))

    function isOfCopy(socket?: Socket): boolean {
      return socket !== undefined && (socket as unknown as { _server: unknown })._server !== server
    }
  })

  it('says how many copies it made, and makes none when it was told to stop', async function () {
    if (isElsewhere) this.skip()
    const { server } = await startServer()
    const handles: { close(): void }[] = []
    const keep = (handle: object) => void handles.push(handle as { close(): void })
    expect(await copyHandle(server, 3, keep, new AbortController().signal)).to.equal(3)
    expect(handles).to.have.length(3)
    for (const handle of handles) handle.close()
    const stopped = new AbortController()
    const copying = copyHandle(server, 3, keep, stopped.signal)
    stopped.abort()
    expect(await copying).to.equal(0)
  })

  it('accepts nothing more when it is closed while its handle is copied', async () => {
    let copied = 0
    const { port, close, call, allAccepted } = await startServer({
      copy: (server, count, onCopy, signal) =>
        copyHandle(
          server,
          count,
          handle => {
            copied += 1
            onCopy(handle)
          },
          signal,
        ),
    })
    for (let n = 0; n < 10 && copied === 0; n += 1) {
      call(2 * BUSY_TURNS)
      await allAccepted()
    }
    if (!isElsewhere) await eventually(() => expect(copied).to.be.greaterThan(0))
    const closing = close()
    for (const caller of callers) caller.destroy()
    await closing
    await eventually(() => expectRefused(port))
  })
})

/** How many of something came in one turn of the event loop. */
function countPerTurn() {
  let [all, most, inTurn] = [0, 0, 0]
  return {
    all: () => all,
    most: () => most,
    startAnew() {
      most = 0
    },
    count() {
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0
        })
      inTurn += 1
      all += 1
      most = Math.max(most, inTurn)
    },
  }
}

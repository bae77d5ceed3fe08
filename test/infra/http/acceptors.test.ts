import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { type Acceptors, acceptFaster, BUSY_TURNS, copyHandle, MAX_ACCEPTORS } from '../../../infra/http/acceptors.ts'
import { eventually } from '../../support/eventually.ts'
import { promiseState } from '../../support/promise-state.ts'

/** They pass no handle to a child process. */
const isElsewhere = 'Deno' in globalThis || 'Bun' in globalThis

describe('a server that many connect to', () => {
  const sockets: Socket[] = []
  const open: Acceptors[] = []

  /** `copied`: how many copies of its handle the server has got, by each answer. */
  async function startServer(copy = copyHandle) {
    const copied: number[] = []
    const perTurn = countPerTurn()
    const newServer = (): Server =>
      createServer((_, response) => void response.end('ok')).on('connection', perTurn.count)
    const server = newServer()
    await once(server.listen(0, '127.0.0.1', 4_096), 'listening')
    const acceptors = acceptFaster(
      server,
      handle => newServer().listen(handle, 4_096),
      async (...all) => {
        const copies = await copy(...all)
        copied.push(copies.length)
        return copies
      },
    )
    open.push(acceptors)
    const { port } = server.address() as AddressInfo
    const connectMany = (count: number): Socket[] => {
      const made = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
      sockets.push(...made)
      return made
    }
    /** Each turn of the event loop brings a connection while so many wait. */
    async function makeBusy(): Promise<void> {
      await eventually(() => {
        connectMany(2 * BUSY_TURNS)
        expect(copied).to.have.length(1)
      })
      await eventually(() => expect(perTurn.all()).to.equal(sockets.length))
    }
    return { port, acceptors, perTurn, copied, connectMany, makeBusy }
  }

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await Promise.all(open.splice(0).map(acceptors => acceptors.close()))
  })

  it('accepts many of them in a turn of the event loop', async function () {
    if (isElsewhere) this.skip()
    const { perTurn, copied, connectMany, makeBusy } = await startServer()
    await makeBusy()
    expect(copied).to.deep.equal([MAX_ACCEPTORS - 1])
    await Promise.all(connectMany(200).map(socket => once(socket, 'connect')))
    await eventually(() => expect(perTurn.all()).to.equal(sockets.length))
    expect(perTurn.most()).to.be.greaterThan(8).and.at.most(MAX_ACCEPTORS)
  })

  it('answers on each of them', async () => {
    const { port, makeBusy } = await startServer()
    await makeBusy()
    const answers = Array.from({ length: 200 }, async () => (await fetch(`http://127.0.0.1:${port}/`)).text())
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['ok']))
  })

  it('does not start others for a few', async () => {
    const { copied, connectMany, perTurn } = await startServer()
    for (let n = 0; n < 2 * BUSY_TURNS; n += 1) {
      connectMany(1)
      await eventually(() => expect(perTurn.all()).to.equal(sockets.length))
    }
    expect(copied).to.deep.equal([])
  })

  it('goes on alone where its handle cannot be copied', async () => {
    const { perTurn, copied, connectMany, makeBusy } = await startServer((server, count, signal) =>
      copyHandle(server, count, signal, '/no/such/node'),
    )
    await makeBusy()
    expect(copied).to.deep.equal([0])
    connectMany(100)
    await eventually(() => expect(perTurn.all()).to.equal(sockets.length))
    expect(perTurn.most()).to.equal(1)
  })

  it('refuses connections once it is closed, and waits for those that all of them accepted', async () => {
    const { port, acceptors, makeBusy } = await startServer()
    await makeBusy()
    const closing = promiseState(acceptors.close())
    const refused = connect(port, '127.0.0.1')
    const [error] = await once(refused, 'error')
    expect(error).to.include({ code: 'ECONNREFUSED' })
    for (const socket of sockets.slice(1)) socket.destroy()
    await new Promise(resolve => setImmediate(resolve))
    expect(closing.state).to.equal('pending')
    sockets[0]?.destroy()
    await eventually(() => expect(closing.state).to.equal('resolved'))
  })

  it('ends a copying that has begun when it is closed, and starts nothing more', async () => {
    let begun = false
    const { port, acceptors, connectMany, copied } = await startServer((...all) => {
      begun = true
      return copyHandle(...all)
    })
    await eventually(() => {
      if (!begun) connectMany(2 * BUSY_TURNS)
      expect(begun).to.equal(true)
    })
    const closing = acceptors.close()
    for (const socket of sockets) socket.destroy()
    await closing
    await eventually(() => expect(copied).to.have.length(1))
    await eventually(async () => {
      const [error] = await once(connect(port, '127.0.0.1'), 'error')
      expect(error).to.include({ code: 'ECONNREFUSED' })
    })
  })
})

/** How many of something came in one turn of the event loop. */
function countPerTurn() {
  const counts = [0]
  let isNew = true
  return {
    all: () => counts.reduce((sum, count) => sum + count, 0),
    most: () => Math.max(...counts),
    count() {
      if (isNew) {
        counts.push(0)
        isNew = false
        setImmediate(() => {
          isNew = true
        })
      }
      counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1
    },
  }
}

// Lets a process accept many connections in a turn of the event loop. In: a server that listens, and a way to start another like it on a
// copy of its handle. Out: more servers on the same socket, once connections come faster than one in a turn.
//
// Node accepts one connection of a server in a turn. Where turns are long, callers wait to be let in: health checks, and those who are to be
// refused. A socket can have several servers, each on a copy of its handle. Node copies no handle, but processes can pass them to each
// other, and what is passed is a copy. So a child process, which does nothing else and ends at once, sends the handle back. Where that
// is not possible, one connection in a turn remains.
import { spawn } from 'node:child_process'
import type { Server } from 'node:net'
import process from 'node:process'
import { setImmediate } from 'node:timers'

/** Servers of a socket, the first one included. With 16, callers at five times the best rate waited for a second (docs/decisions/overload.md). */
export const MAX_ACCEPTORS = 64
/** After so many turns that each brought a connection, more of them are waiting. */
export const BUSY_TURNS = 64

export interface Acceptors {
  /** Closes the server and those that were started here. Resolves once all their connections have ended. */
  close(): Promise<void>
}

export function acceptFaster(
  server: Server,
  startOn: (copy: object) => Server,
  copy: typeof copyHandle = copyHandle,
): Acceptors {
  const servers = [server]
  const closing = new AbortController()
  let [busyTurns, isBusy, isCounting] = [0, false, false]
  server.on('connection', onConnection)

  function onConnection(): void {
    isBusy = true
    if (isCounting) return
    isCounting = true
    setImmediate(countTurn)
  }

  function countTurn(): void {
    busyTurns = isBusy ? busyTurns + 1 : 0
    isCounting = isBusy
    isBusy = false
    if (busyTurns >= BUSY_TURNS) {
      server.off('connection', onConnection)
      void startMore()
    } else if (isCounting) setImmediate(countTurn)
  }

  async function startMore(): Promise<void> {
    const started = (await copy(server, MAX_ACCEPTORS - 1, closing.signal)).map(startOn)
    if (closing.signal.aborted) await Promise.all(started.map(closed))
    else servers.push(...started)
  }

  return {
    async close() {
      closing.abort()
      await Promise.all(servers.map(closed))
    },
  }
}

const closed = (server: Server): Promise<void> => new Promise(resolve => server.close(() => resolve()))

const SEND_BACK = `process.on('message', (nth, handle) => process.send(nth, handle))`

const MAX_COPYING_MS = 10_000

/** Fewer, or none, where handles cannot be passed, and when it is told to stop. */
export function copyHandle(
  server: Server,
  count: number,
  signal: AbortSignal,
  node = process.execPath,
): Promise<object[]> {
  const copies: object[] = []
  let answers = 0
  return new Promise(resolve => {
    const child = spawn(node, ['-e', SEND_BACK], {
      // Ours holds secrets.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      signal,
      timeout: MAX_COPYING_MS,
      killSignal: 'SIGKILL',
    })
    child.on('error', () => resolve(copies))
    child.on('exit', () => resolve(copies))
    child.on('message', (_, handle) => {
      answers += 1
      // Missing where this process may open no more files.
      if (handle) copies.push(handle)
      if (answers === count) child.disconnect()
    })
    const { _handle: own } = server as unknown as { _handle?: Server }
    try {
      for (let nth = 0; nth < count; nth += 1) child.send(nth, own)
    } catch {
      child.kill()
    }
  })
}

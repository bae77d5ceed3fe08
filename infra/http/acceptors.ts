// Lets a process accept many connections in a turn of the event loop. In: an HTTP server that listens. Out: while connections come faster
// than one in a turn, more sockets of the same address, whose connections the server gets too.
//
// Node accepts one connection of a socket in a turn. Where turns are long, callers wait to be let in: health checks,
// and those who are to be refused. A listening handle can be copied, and Node accepts one connection for each copy.
// Node copies no handle, but processes can pass them to each other, and what is passed is a copy. So a child process,
// which does nothing else, sends the handle back. Where that is not possible, one connection in a turn remains.
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Server } from 'node:net'
import process from 'node:process'
import { setImmediate } from 'node:timers'

/** With the server's own. With 16, `/healthz` took 1.5 s at five times the best rate (docs/decisions/overload.md). */
export const MAX_ACCEPTORS = 64
/** When each turn has brought a connection for so long, more of them are waiting. */
export const BUSY_MS = 100
/** After so long without two connections in one turn, the copies are closed: each of them is asked for every new connection. */
const CALM_MS = 60_000

export interface Acceptors {
  /** Accepts nothing more on the copies. Resolves once all their connections have ended. */
  close(): Promise<void>
}

export interface AcceptorsOptions {
  /** Connections that may wait to be accepted. */
  backlog: number
  /** Milliseconds that pass. */
  elapsed?: () => number
  copy?: typeof copyHandle
  calmMs?: number
}

export function acceptFaster(
  server: Server,
  { backlog, elapsed = () => performance.now(), copy = copyHandle, calmMs = CALM_MS }: AcceptorsOptions,
): Acceptors {
  const copies = new Set<Server>()
  const ends = new Set<Promise<void>>()
  const closing = new AbortController()
  let copying: Promise<void> | null = null
  let nextLook: NodeJS.Timeout | undefined
  let [inTurn, mostInTurn, isCounting] = [0, 0, false]
  let busySince: number | null = null
  server.on('connection', countConnection)

  function countConnection(): void {
    inTurn += 1
    if (isCounting) return
    isCounting = true
    setImmediate(endTurn)
  }

  function endTurn(): void {
    isCounting = inTurn > 0
    mostInTurn = Math.max(mostInTurn, inTurn)
    inTurn = 0
    if (!isCounting) busySince = null
    else {
      busySince ??= elapsed()
      if (copying === null && !closing.signal.aborted && elapsed() - busySince >= BUSY_MS) copying = acceptOnCopies()
      setImmediate(endTurn)
    }
  }

  async function acceptOnCopies(): Promise<void> {
    const copied = await copy(server, MAX_ACCEPTORS - 1, acceptOn, closing.signal)
    // Near the limit of open files, what is left of them is for connections.
    if (copied < MAX_ACCEPTORS - 1) closeCopies()
    if (!closing.signal.aborted) lookLater()
  }

  /** Its connections are as those of an HTTP server. */
  function acceptOn(handle: object): void {
    const one = createServer({ allowHalfOpen: true, noDelay: true })
    one.on('connection', socket => server.emit('connection', socket))
    one.on('error', error => server.emit('error', error))
    one.listen(handle, backlog)
    copies.add(one)
  }

  function lookLater(): void {
    mostInTurn = 0
    nextLook = setTimeout(() => {
      if (mostInTurn > 1) return lookLater()
      closeCopies()
      copying = null
    }, calmMs)
    nextLook.unref()
  }

  function closeCopies(): void {
    for (const one of copies) {
      const ended = new Promise<void>(resolve => one.close(() => resolve()))
      ends.add(ended)
      void ended.then(() => ends.delete(ended))
    }
    copies.clear()
  }

  return {
    async close() {
      closing.abort()
      clearTimeout(nextLook)
      closeCopies()
      await copying
      await Promise.all(ends)
    },
  }
}

const SEND_BACK = `process.on('message', (nth, handle) => process.send(nth, handle))`
/** One copy takes a turn of this process, which may be long. */
const MAX_WAIT_FOR_COPY_MS = 5_000

/** Calls `onCopy` for each copy. Out: how many there were; fewer than `count`, or none, where handles cannot be passed, where no more files
 *  may be opened, and when it is told to stop. */
export function copyHandle(
  server: Server,
  count: number,
  onCopy: (handle: object) => void,
  signal: AbortSignal,
  node = process.execPath,
): Promise<number> {
  return new Promise(resolve => {
    const child = 'Deno' in globalThis || 'Bun' in globalThis ? null : startChild(node)
    if (child === null) return resolve(0)
    let copied = 0
    let isOver = false
    let patience: NodeJS.Timeout | undefined
    const end = (): void => {
      isOver = true
      clearTimeout(patience)
      signal.removeEventListener('abort', end)
      // Without an id it was not started, and Node would send the signal to any process.
      if (child.pid !== undefined) child.kill('SIGKILL')
      resolve(copied)
    }
    const waitForNext = (): void => {
      clearTimeout(patience)
      patience = setTimeout(end, MAX_WAIT_FOR_COPY_MS)
    }
    child.on('error', end)
    child.on('exit', end)
    child.on('message', (_, handle) => {
      // It may have been on its way when the copying ended.
      if (isOver || !handle) return closeHandle(handle)
      waitForNext()
      onCopy(handle)
      copied += 1
      if (copied === count) end()
    })
    signal.addEventListener('abort', end)
    waitForNext()
    // Its event `error` follows.
    if (child.pid === undefined) return
    const { _handle: own } = server as unknown as { _handle: Server }
    try {
      for (let nth = 0; nth < count; nth += 1) child.send(nth, own)
    } catch {
      end()
    }
  })
}

/** Null where no process may be started. It gets nothing of our environment, which holds secrets. */
function startChild(node: string): ChildProcess | null {
  try {
    return spawn(node, ['-e', SEND_BACK], { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  } catch {
    return null
  }
}

function closeHandle(handle: unknown): void {
  if (handle) (handle as { close(): void }).close()
}

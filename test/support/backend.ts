// An example of docs/examples that runs as a process. Out: where it answers.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Child } from './child.ts'
import { eventually } from './eventually.ts'

export interface Backend {
  process: Child
  /** Where it answers, once it listens. */
  url: Promise<string>
}

/** An example that prints `listening on port N`. */
export function listeningBackend(process: Child): Backend {
  const line = process.waitForLine(one => one.startsWith('listening'))
  return { process, url: line.then(text => `http://127.0.0.1:${text.split(' ').at(-1)}`) }
}

/** A server that must be given its port: it listens once it answers at all. */
export async function backendOnPort(start: (port: number) => Child): Promise<Backend> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const process = start(port)
  const answers = eventually(async () => void (await fetch(url)))
  return { process, url: answers.then(() => url) }
}

/** Begins a request and hangs up before its end. */
export async function hangUp(url: string): Promise<void> {
  const { port, pathname } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf`)
  socket.resetAndDestroy()
  await once(socket, 'close')
}

export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
  await new Promise(resolve => server.close(resolve))
  return port
}

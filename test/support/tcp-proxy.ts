// A TCP proxy that fails as networks do: it cuts or refuses connections, and holds or loses data. The fault tests of both engines use it.
import type { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  port: number
  /** Breaks every open connection. */
  cut(): void
  /** Breaks every open connection, and every new one, until healed. */
  refuse(): void
  /** Forwards nothing in either direction, on open and new connections, until healed. No connection breaks. */
  stall(): void
  /** Forwards nothing from the server until healed. Data from clients still arrives. */
  mute(): void
  heal(): void
  /** The next `times` chunks of a client that contain `words` reach the server, and the connection breaks before the answer. */
  loseReplyTo(words: string, times?: number): void
  close(): Promise<void>
}

interface Pair {
  client: Socket
  server: Socket
}

export async function tcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  let mode: 'pass' | 'refuse' | 'stall' | 'mute' = 'pass'
  let lossTrigger: { words: string; left: number } | undefined

  function applyMode({ client, server }: Pair): void {
    if (mode === 'stall') client.pause()
    else client.resume()
    if (mode === 'stall' || mode === 'mute') server.pause()
    else server.resume()
  }

  function forwardToServer({ client, server }: Pair, bytes: Buffer): void {
    server.write(bytes)
    if (lossTrigger === undefined || !bytes.includes(lossTrigger.words)) return
    lossTrigger.left -= 1
    if (lossTrigger.left === 0) lossTrigger = undefined
    server.removeAllListeners('data')
    server.once('data', () => client.destroy())
  }

  const listener = createServer({ noDelay: true }, client => {
    if (mode === 'refuse') return client.destroy()
    const pair = { client, server: connect({ ...target, noDelay: true }) }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      pair.server.destroy()
    }
    for (const socket of [client, pair.server]) socket.on('error', end).on('close', end)
    client.on('data', bytes => forwardToServer(pair, bytes))
    pair.server.on('data', bytes => client.write(bytes))
    applyMode(pair)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  const cut = (): void => {
    for (const { client, server } of [...pairs]) {
      client.destroy()
      server.destroy()
    }
  }
  const setMode = (next: typeof mode): void => {
    mode = next
    for (const pair of pairs) applyMode(pair)
  }
  return {
    port: (listener.address() as AddressInfo).port,
    cut,
    refuse() {
      setMode('refuse')
      cut()
    },
    stall: () => setMode('stall'),
    mute: () => setMode('mute'),
    heal: () => setMode('pass'),
    loseReplyTo(words, times = 1) {
      lossTrigger = { words, left: times }
    },
    async close() {
      cut()
      listener.close()
      await once(listener, 'close')
    },
  }
}

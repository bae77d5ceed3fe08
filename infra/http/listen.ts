// In: a Koa app and an address. Out: where it listens, and a way to stop that finishes what is in hand.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type Koa from 'koa'

export interface Listening {
  port: number
  /** Refuses new connections at once, lets requests in hand finish, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>
}

export async function listen(app: Koa, address: { host: string; port: number }): Promise<Listening> {
  const server = await new Promise<Server>((resolve, reject) => {
    const starting = app.listen(address.port, address.host)
    starting.once('listening', () => resolve(starting))
    starting.once('error', reject)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: graceMs =>
      new Promise(resolve => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

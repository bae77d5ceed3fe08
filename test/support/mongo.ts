// A MongoDB database for one test, behind a proxy that can refuse, stall and cut connections.
import { randomUUID } from 'node:crypto'
import { type Db, MongoClient } from 'mongodb'
import { MONGODB_URL } from './engines.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

export interface MongoBehindProxy {
  proxy: TcpProxy
  /** Reaches the database directly. */
  db: Db
  /** Reaches the server through the proxy. */
  url: string
  database: string
  /** Drops the database. */
  close(): Promise<void>
}

export async function openMongoBehindProxy(): Promise<MongoBehindProxy> {
  const client = new MongoClient(MONGODB_URL ?? '')
  const hello = await client.db('admin').command({ hello: 1 })
  const [host = '127.0.0.1', port] = String(hello.primary ?? client.options.hosts[0]).split(':')
  const proxy = await tcpProxy({ host, port: Number(port) })
  const database = `faults_${randomUUID()}`
  return {
    proxy,
    db: client.db(database),
    // Without directConnection the driver asks the replica set for its members and connects past the proxy.
    url: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`,
    database,
    async close() {
      await client.db(database).dropDatabase()
      await client.close()
      await proxy.close()
    },
  }
}

// A MongoDB database of a test's own, behind a proxy that can fail.
import { randomUUID } from 'node:crypto'
import { type Db, MongoClient } from 'mongodb'
import { MONGODB_URL } from './engines.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

export interface MongoBehindProxy {
  proxy: TcpProxy
  /** Past the proxy. */
  db: Db
  /** Through it. */
  url: string
  database: string
  /** Drops the database. */
  close(): Promise<void>
}

export async function mongoBehindProxy(): Promise<MongoBehindProxy> {
  const client = new MongoClient(MONGODB_URL ?? '')
  const hello = await client.db('admin').command({ hello: 1 })
  const [host = '127.0.0.1', port] = String(hello.primary ?? client.options.hosts[0]).split(':')
  const proxy = await tcpProxy({ host, port: Number(port) })
  const database = `faults_${randomUUID()}`
  return {
    proxy,
    db: client.db(database),
    // Directly, or the driver would ask the replica set for its members and go round the proxy.
    url: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`,
    database,
    async close() {
      await client.db(database).dropDatabase()
      await client.close()
      await proxy.close()
    },
  }
}

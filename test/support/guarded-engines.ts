// MongoDB with authentication, and a virtual host of RabbitMQ, with a user for every role: what infra/deploy/compose.yml makes, without
// containers. In: the engines of infra/engines.sh. Out: the URLs of each role's users.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { ROLES, type Role } from '../../infra/config/config.ts'
import { grantAtMongo, rabbitDefinitions } from '../../infra/deploy/grant.ts'
import { userOf } from '../../infra/deploy/rights.ts'
import { freePort } from './backend.ts'
import { type Child, spawnCommand } from './child.ts'
import { AMQP_URL, ENGINES_DIR } from './engines.ts'
import { eventually } from './eventually.ts'
import { succeed } from './interpreters.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

export interface GuardedEngines {
  /** The file that holds a role's URL. */
  file(role: Role, engine: 'mongodb' | 'amqp'): string
  url(role: Role, engine: 'mongodb' | 'amqp'): string
  close(): Promise<void>
}

const DATABASE = 'countersign'

/** The mongod that infra/engines.sh runs. */
const mongod = (): string => /^MONGOD="?([^"\n]+)"?$/m.exec(readFileSync(`${ENGINES_DIR}/settings`, 'utf8'))?.[1] ?? ''

/** In a replica set only if the options say so. */
export const spawnMongod = (port: number, data: string, options: string[] = []): Child =>
  spawnCommand(mongod(), [
    '--quiet',
    '--port',
    `${port}`,
    '--bind_ip',
    '127.0.0.1',
    '--nounixsocket',
    '--dbpath',
    data,
    ...options,
  ])

export async function startGuardedEngines(): Promise<GuardedEngines> {
  const folder = createTemporaryFolder()
  const [data, secrets] = [join(folder, 'data'), join(folder, 'secrets')]
  await Promise.all([mkdir(data), mkdir(secrets)])
  const password = (): string => randomBytes(16).toString('hex')
  const [port, admin, vhost] = [await freePort(), password(), `roles-${randomBytes(6).toString('hex')}`]
  const rabbit = new URL(AMQP_URL ?? '')
  const file = (role: Role, engine: string): string => join(secrets, `${userOf(role)}_${engine}_url`)
  const keyFile = join(folder, 'keyfile')
  await writeFile(keyFile, randomBytes(48).toString('base64'), { mode: 0o400 })
  await writeFile(join(secrets, 'mongodb_admin_url'), `mongodb://admin:${admin}@127.0.0.1:${port}/?authSource=admin`)
  for (const role of ROLES) {
    const user = userOf(role)
    const mongodb = `mongodb://${user}:${password()}@127.0.0.1:${port}/${DATABASE}?replicaSet=countersign`
    await writeFile(file(role, 'mongodb'), mongodb)
    await writeFile(file(role, 'amqp'), `amqp://${user}:${password()}@${rabbit.host}/${vhost}`)
  }

  await makeAdministrator(spawnMongod(port, data), port, admin)
  const guarded = spawnMongod(port, data, ['--replSet', 'countersign', '--keyFile', keyFile])
  const definitions = join(folder, 'definitions.json')
  await writeFile(definitions, JSON.stringify(await rabbitDefinitions(secrets)))
  await Promise.all([
    eventually(() => grantAtMongo(secrets)),
    succeed('infra/engines.sh', ['rabbitmqctl', 'import_definitions', definitions]),
  ])
  return {
    file,
    url: (role, engine) => readFileSync(file(role, engine), 'utf8'),
    async close() {
      guarded.process.kill('SIGKILL')
      await guarded.exited
    },
  }
}

/** As MongoDB's image does: on a server without authentication, which then ends. */
async function makeAdministrator(open: Child, port: number, pwd: string): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`)
  try {
    await eventually(() => client.db('admin').command({ createUser: 'admin', pwd, roles: ['root'] }))
  } finally {
    await client.close()
    open.process.kill('SIGTERM')
    await open.exited
  }
}

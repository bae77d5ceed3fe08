// Makes the users of the roles at MongoDB and RabbitMQ, with the rights of rights.ts. In: a folder that holds, for each
// role, the URLs that its process gets (edge_mongodb_url, edge_amqp_url, channel-sms_amqp_url, …) and those of two
// administrators: mongodb_admin_url, and rabbitmq_admin_url, that of the management API. Out: users with the names and
// passwords in these URLs. It can be repeated: rights and passwords become those of the table and of the files.
//
//   node dist/infra/deploy/grant.js <folder>               grants at both engines
//   node dist/infra/deploy/grant.js <folder> definitions   prints what RabbitMQ would get, for `rabbitmqctl import_definitions`
import { createHash, randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Db, MongoClient } from 'mongodb'
import { ROLES, type Role } from '../config/roles.ts'
import { splitUrls } from '../config/values.ts'
import { mongoPrivileges, rabbitPermissions, userOf } from './rights.ts'

interface Account {
  role: Role
  user: string
  password: string
  /** The database or the virtual host. */
  place: string
}

const DEFAULT_VHOST = '/'

const readText = async (folder: string, name: string): Promise<string> =>
  (await readFile(join(folder, name), 'utf8')).trim()

function parseUrl(text: string, name: string): URL {
  // A list of hosts is not valid in a URL, and the hosts do not matter here.
  const first = text.replace(/^([^:]+:\/\/(?:[^@/?]*@)?[^,/?]+)[^/?]*/, '$1')
  if (!URL.canParse(first)) throw new Error(`${name} does not hold a URL`)
  return new URL(first)
}

/** MongoDB's URL may list hosts; RabbitMQ's variable lists whole URLs, one for each node, which must all be of one account. */
async function readUrls(folder: string, name: string, engine: 'mongodb' | 'amqp'): Promise<URL[]> {
  const text = await readText(folder, name)
  return (engine === 'amqp' ? splitUrls(text) : [text]).map(url => parseUrl(url, name))
}

async function readAccounts(folder: string, engine: 'mongodb' | 'amqp', defaultPlace: string): Promise<Account[]> {
  return Promise.all(
    ROLES.map(async role => {
      const accounts = (await readUrls(folder, `${userOf(role)}_${engine}_url`, engine)).map(url => {
        const { username, password, pathname } = url
        if (username === '' || password === '') throw new Error(`the URL of ${role} names no user or no password`)
        const place = decodeURIComponent(pathname.slice(1)) || defaultPlace
        return { role, user: decodeURIComponent(username), password: decodeURIComponent(password), place }
      })
      const [first, ...others] = accounts as [Account, ...Account[]]
      for (const { user, password, place } of others)
        if (user !== first.user || password !== first.password || place !== first.place)
          throw new Error(`the URLs of ${role} differ in user, password or virtual host`)
      return first
    }),
  )
}

/** As `rabbitmqctl import_definitions` and the management API take them. */
export async function rabbitDefinitions(folder: string): Promise<object> {
  const accounts = await readAccounts(folder, 'amqp', DEFAULT_VHOST)
  return {
    vhosts: [...new Set(accounts.map(({ place }) => place))].map(name => ({ name })),
    users: accounts.map(({ user, password }) => ({
      name: user,
      password_hash: passwordHash(password),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: '',
    })),
    permissions: accounts.map(({ role, user, place }) => ({ user, vhost: place, ...rabbitPermissions(role) })),
  }
}

/** Four bytes of salt, and the hash of the salt with the password. */
function passwordHash(password: string): string {
  const salt = randomBytes(4)
  return Buffer.concat([salt, createHash('sha256').update(salt).update(password).digest()]).toString('base64')
}

async function grantAtRabbit(folder: string): Promise<void> {
  const api = parseUrl(await readText(folder, 'rabbitmq_admin_url'), 'rabbitmq_admin_url')
  const credentials = Buffer.from(`${decodeURIComponent(api.username)}:${decodeURIComponent(api.password)}`)
  const answer = await fetch(`${api.origin}/api/definitions`, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials.toString('base64')}`, 'content-type': 'application/json' },
    body: JSON.stringify(await rabbitDefinitions(folder)),
  })
  if (!answer.ok) throw new Error(`RabbitMQ answered ${answer.status}: ${await answer.text()}`)
}

export async function grantAtMongo(folder: string): Promise<void> {
  const url = await readText(folder, 'mongodb_admin_url')
  const mongodb = await import('mongodb')
  const alone = loneHost(url)
  // A member of no replica set yet answers only a direct connection. Of several hosts the driver has to find the primary.
  const client = new mongodb.MongoClient(url, alone === undefined ? {} : { directConnection: true })
  try {
    if (alone !== undefined) await makeReplicaSet(client, alone)
    for (const account of await readAccounts(folder, 'mongodb', 'countersign'))
      await grant(client.db(account.place), account)
  } finally {
    await client.close()
  }
}

/** The host of a URL that names one host and no replica set. */
export function loneHost(url: string): string | undefined {
  const [, hosts = ''] = /^mongodb:\/\/(?:[^@/?]*@)?([^/?]+)/.exec(url) ?? []
  return hosts === '' || hosts.includes(',') || /[?&]replicaSet=/i.test(url) ? undefined : hosts
}

async function grant(db: Db, { role, user, password }: Account): Promise<void> {
  const privileges = mongoPrivileges(role, db.databaseName)
  await createOrUpdate(db, 'Role', userOf(role), { privileges, roles: [] })
  await createOrUpdate(db, 'User', user, { pwd: password, roles: [userOf(role)] })
}

const codeOf = (answer: unknown): number => (answer instanceof Error && 'code' in answer ? Number(answer.code) : 0)

/** MongoDB's codes for a role and a user that exist. */
const EXISTS = [51002, 51003]

async function createOrUpdate(db: Db, kind: 'Role' | 'User', name: string, content: object): Promise<void> {
  await db.command({ [`create${kind}`]: name, ...content }).catch(async error => {
    if (!EXISTS.includes(codeOf(error))) throw error
    await db.command({ [`update${kind}`]: name, ...content })
  })
}

const NOT_YET_INITIALIZED = 94
const PRIMARY_WAIT_MS = 60_000
const POLL_MS = 200

/** A server that was started as a member of a replica set, and belongs to none yet, becomes the only member of one. */
async function makeReplicaSet(client: MongoClient, host: string): Promise<void> {
  const admin = client.db('admin')
  const status: unknown = await admin.command({ replSetGetStatus: 1 }).catch(error => error)
  if (codeOf(status) === NOT_YET_INITIALIZED) {
    const { parsed } = await admin.command({ getCmdLineOpts: 1 })
    await admin.command({ replSetInitiate: { _id: parsed.replication.replSet, members: [{ _id: 0, host }] } })
  }
  for (const giveUpAt = Date.now() + PRIMARY_WAIT_MS; ; await new Promise(resolve => setTimeout(resolve, POLL_MS))) {
    if ((await admin.command({ hello: 1 })).isWritablePrimary) return
    if (Date.now() > giveUpAt) throw new Error('MongoDB did not become a primary')
  }
}

async function main([folder, what]: string[]): Promise<void> {
  if (folder === undefined) throw new Error('say in which folder the URLs are')
  if (what === 'definitions')
    return void process.stdout.write(`${JSON.stringify(await rabbitDefinitions(folder), null, 2)}\n`)
  await Promise.all([grantAtMongo(folder), grantAtRabbit(folder)])
  process.stdout.write('The users of all roles have their rights at MongoDB and RabbitMQ.\n')
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main(process.argv.slice(2)).catch(error => {
    process.stderr.write(`grant: ${error.message}\n`)
    process.exitCode = 1
  })

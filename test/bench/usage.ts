// What processes and engines have used so far: their processor time, and the commands and documents of MongoDB. Linux only: it reads
// /proc.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { MongoClient } from 'mongodb'
import { MONGODB_URL } from '../support/engines.ts'

export type Reading = Record<string, number>

export interface Usage {
  /** Milliseconds of processor time, by process or engine. */
  cpu: Reading
  mongodb: Reading
}

/** The ids of the processes that are one process or engine to the reader. */
export type Pids = Record<string, number[]>

const TICK_MS = 10

/** RabbitMQ's pid file names a parent of its process, so children are counted too. */
export function enginesIn(folder: string): Pids {
  const port = new URL((MONGODB_URL ?? '').replace('mongodb:', 'http:')).port
  const pidOf = (name: string): number => Number(readFileSync(`${folder}/${name}.pid`, 'utf8'))
  return { MongoDB: [pidOf(`mongodb-${port}`)], RabbitMQ: processTree(pidOf('rabbitmq')) }
}

function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(processTree)]
}

export const readCpu = (pids: Pids): Reading =>
  Object.fromEntries(Object.entries(pids).map(([name, ids]) => [name, total(ids.map(cpuMs))]))

export const readUsage = async (pids: Pids): Promise<Usage> => ({
  cpu: readCpu(pids),
  mongodb: 'MongoDB' in pids ? await readMongoCounters() : {},
})

/** The difference of two readings, for each of `requests`. */
export const usagePerRequest = (before: Usage, after: Usage, requests: number): Usage => ({
  cpu: perRequest(before.cpu, after.cpu, requests),
  mongodb: perRequest(before.mongodb, after.mongodb, requests),
})

const perRequest = (before: Reading, after: Reading, requests: number): Reading =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / requests]))

/** By process, what was read last. RabbitMQ has children that end. */
const lastCpuMs = new Map<number, number>()

/** User and system time. */
function cpuMs(pid: number): number {
  if (existsSync(`/proc/${pid}`)) lastCpuMs.set(pid, readCpuMs(pid))
  return lastCpuMs.get(pid) ?? 0
}

/** Fields are counted from behind the process name, which may contain spaces. */
function readCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Resident memory, now or at most since the start. */
export function residentBytes(pid: number, which: 'now' | 'most' = 'now'): number {
  const field = which === 'now' ? 'VmRSS' : 'VmHWM'
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib ?? 0) * 1_024
}

async function readMongoCounters(): Promise<Reading> {
  const client = await MongoClient.connect(MONGODB_URL ?? '')
  const { metrics, opcounters } = await client.db('admin').command({ serverStatus: 1 })
  await client.close()
  const commands = ['insert', 'update', 'find', 'findAndModify']
  return {
    ...Object.fromEntries(commands.map(name => [`${name} commands`, Number(metrics.commands[name].total)])),
    'documents inserted': Number(opcounters.insert),
    'documents updated': Number(metrics.document.updated),
  }
}

export const memoryMiB = (pid: number, which?: 'now' | 'most'): number => residentBytes(pid, which) / 2 ** 20

/** How many connections a process has to a port. */
export function connectionsTo(pid: number, port: number): number {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).flatMap(fd => socketOf(`/proc/${pid}/fd/${fd}`)))
  return ['tcp', 'tcp6'].flatMap(table => remoteSockets(`/proc/${pid}/net/${table}`, port)).filter(id => own.has(id))
    .length
}

/** A file that was closed meanwhile is none. */
function socketOf(link: string): string[] {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.slice(1) ?? []
  } catch {
    return []
  }
}

const ESTABLISHED = '01'

/** The sockets with an established connection to this port. */
const remoteSockets = (table: string, port: number): string[] =>
  readFileSync(table, 'utf8')
    .split('\n')
    .slice(1)
    .map(line => line.trim().split(/\s+/))
    .filter(
      ([, , remote = '', state]) => state === ESTABLISHED && Number.parseInt(remote.split(':')[1] ?? '', 16) === port,
    )
    .map(fields => fields[9] ?? '')

export const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

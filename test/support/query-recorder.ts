// Records what the product asks MongoDB, by the profiler of one database, so that nothing has to be added to the product. In: the database.
// Out: every kind of query that was made, with the one of its executions that read the most in vain, and MongoDB's plan for it. A kind is a
// query without its values.
import type { Db, Document } from 'mongodb'
import type { AnyFilter } from './sharding.ts'

export interface RecordedQuery {
  collection: string
  operation: 'find' | 'count' | 'update' | 'modify' | 'remove'
  filter: AnyFilter
  sort: Document | undefined
  /** It changes one document at most. */
  changesOne: boolean
  /** As MongoDB was given it. */
  command: Document
  /** Keys of indexes, and documents, that were read; and documents that were found. */
  keysRead: number
  docsRead: number
  found: number
}

interface QueryPlan {
  stages: string[]
  indexes: string[]
}

export interface QueryRecorder {
  /** One query of each kind since the recording began, or since it was last asked. */
  take(): Promise<RecordedQuery[]>
  explain(query: RecordedQuery): Promise<QueryPlan>
}

const PROFILE_BYTES = 64 * 2 ** 20
/** Of the product's connections (infra/store/mongo.ts). */
const APP_NAME = 'countersign'

/** The database must be dropped afterwards: its profile cannot be emptied. */
export async function recordQueries(db: Db): Promise<QueryRecorder> {
  await db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES })
  await db.command({ profile: 2 })
  let seen = new Date(0)
  return {
    async take() {
      const entries = await db
        .collection('system.profile')
        .find({ ts: { $gt: seen }, appName: APP_NAME })
        .sort({ ts: 1 })
        .toArray()
      seen = entries.at(-1)?.ts ?? seen
      const worst = new Map<string, RecordedQuery>()
      for (const query of entries.flatMap(toQuery)) {
        const known = worst.get(kindOf(query))
        if (known === undefined || wasteOf(query) > wasteOf(known)) worst.set(kindOf(query), query)
      }
      return [...worst.values()]
    },
    explain: async query => planOf(await db.command({ explain: explainable(query), verbosity: 'queryPlanner' })),
  }
}

/** What was read and not asked for. A list of values is looked up value by value, each with a key or two. */
export const wasteOf = ({ keysRead, docsRead, found, filter }: RecordedQuery): number =>
  Math.max(keysRead, docsRead) - found - 2 * listedValues(filter)

const listedValues = (filter: unknown): number => {
  if (Array.isArray(filter)) return filter.reduce((sum, one) => sum + listedValues(one), 0)
  if (typeof filter !== 'object' || filter === null) return 0
  return Object.entries(filter).reduce(
    (sum, [name, value]) => sum + (name === '$in' && Array.isArray(value) ? value.length : listedValues(value)),
    0,
  )
}

/** In words, without values. */
export const kindOf = ({ collection, operation, filter, sort, changesOne }: RecordedQuery): string =>
  `${collection}: ${operation}${changesOne ? ' one' : ''} ${shapeOf(filter)}${sort ? ` by ${JSON.stringify(sort)}` : ''}`

function shapeOf(value: unknown, name = ''): string {
  // Expressions compare the values of one document, and each of them is another.
  if (name === '$expr') return '…'
  if (name === '$in') return '[…]'
  if (Array.isArray(value)) return `[${[...new Set(value.map(one => shapeOf(one)))].join()}]`
  if (typeof value !== 'object' || value === null || value instanceof Date) return '?'
  return `{${Object.entries(value).map(([member, of]) => `${member}: ${shapeOf(of, member)}`)}}`
}

function toQuery({ ns, op, command = {}, ...figures }: Document): RecordedQuery[] {
  const collection = String(ns).split('.').slice(1).join('.')
  const { keysExamined: keysRead = 0, docsExamined: docsRead = 0, nreturned = 0, nMatched, ndeleted } = figures
  const measured = { collection, command, keysRead, docsRead, found: nMatched ?? ndeleted ?? nreturned }
  if (op === 'query' && command.find)
    return [{ ...measured, operation: 'find', filter: command.filter ?? {}, sort: command.sort, changesOne: false }]
  if (op === 'update')
    return [{ ...measured, operation: 'update', filter: command.q, sort: undefined, changesOne: !command.multi }]
  if (op === 'remove')
    return [{ ...measured, operation: 'remove', filter: command.q, sort: undefined, changesOne: command.limit === 1 }]
  if (op === 'command' && (command.findAndModify ?? command.findandmodify))
    return [{ ...measured, operation: 'modify', filter: command.query ?? {}, sort: command.sort, changesOne: true }]
  if (op === 'command' && command.aggregate) {
    const [first, ...rest] = command.pipeline
    // The one aggregate of the store's adapter counts, and its answer is one document.
    return [
      {
        ...measured,
        operation: 'count',
        filter: first.$match ?? {},
        sort: undefined,
        changesOne: false,
        found: rest.length > 0 ? keysRead : 0,
      },
    ]
  }
  return []
}

/** The command that MongoDB explains: of a write, the statement alone, which is then not executed. */
function explainable({ collection, operation, command, filter, sort }: RecordedQuery): Document {
  if (operation === 'update') {
    const { u, multi = false, upsert = false } = command
    return { update: collection, updates: [{ q: filter, u, multi, upsert }] }
  }
  if (operation === 'remove') return { delete: collection, deletes: [{ q: filter, limit: command.limit ?? 0 }] }
  if (operation === 'modify')
    return { findAndModify: collection, query: filter, update: command.update, upsert: command.upsert ?? false }
  if (operation === 'count') return { aggregate: collection, pipeline: command.pipeline, cursor: {} }
  const { limit, projection } = command
  return { find: collection, filter, ...(sort && { sort }), ...(limit && { limit }), ...(projection && { projection }) }
}

/** Every stage of the winning plan and every index that it reads, wherever the version of MongoDB puts them in its answer. */
function planOf(explained: Document): QueryPlan {
  const plan: QueryPlan = { stages: [], indexes: [] }
  const visit = (value: unknown, isPlan: boolean): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, isPlan)
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'rejectedPlans' || name === 'slotBasedPlan') continue
      if (isPlan && name === 'stage') plan.stages.push(String(member))
      if (isPlan && name === 'indexName') plan.indexes.push(String(member))
      visit(member, isPlan || name === 'winningPlan')
    }
  }
  visit(explained, false)
  // A search by one id is planned in one step, which names no index.
  if (plan.stages.includes('IDHACK') || plan.stages.some(stage => stage.startsWith('EXPRESS')))
    plan.indexes.push('_id_')
  return plan
}

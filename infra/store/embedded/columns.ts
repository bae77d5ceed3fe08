// The columns of a collection's table beside `_id` and `doc`: the keys of the indexed paths (see index-key.ts). They are computed here
// and not by SQLite, which would parse the whole document once for every index. In: a collection's declaration. Out: the columns, what
// a document stores in them, and how SQL names them. A change of what is stored must change a definition too: schema.ts rebuilds a table
// whose definition differs.
import { conditionsOf } from '../conditions.ts'
import type { Doc } from '../docs.ts'
import type { CollectionSpec } from '../store.ts'
import { existsInDoc, type Key, keyInDoc, keyOf, namesOf, quoted } from './index-key.ts'
import { isObject, member } from './values.ts'

export interface Column {
  /** Quoted for SQL. */
  name: string
  definition: string
  /** Throws `ListAtIndexedPath`. */
  valueIn(doc: Doc): Key | null
}

/** The SQL of an indexed path: of its key, and of whether a document has it. */
export interface IndexedPath {
  path: string
  key: string
  exists: string
}

export interface Columns {
  stored: readonly Column[]
  /** The paths that SQL can search, without `_id`. None of them holds a list. */
  searchable: ReadonlyMap<string, IndexedPath>
  /** The SQL of the key of a path, indexed or not. */
  keySql(path: string): string
}

/** MongoDB indexes a list by its members, and SQLite cannot. */
export class ListAtIndexedPath extends TypeError {
  override name = 'ListAtIndexedPath'
  readonly path: string
  constructor(path: string) {
    super(`${path} is indexed and cannot hold a list`)
    this.path = path
  }
}

export function columnsOf(spec: CollectionSpec): Columns {
  const partial = spec.indexes.flatMap(index => (index.partial ? [...conditionsOf(index.partial)] : []))
  const fields = spec.indexes.flatMap(index => Object.keys(index.fields))
  const keyed = new Set([...fields, ...partial.map(([path]) => path)])
  // Null and a missing value have one key, so an index of the documents that have a field needs a column that tells them apart.
  const flagged = new Set(partial.flatMap(([path, condition]) => ('$exists' in condition ? [path] : [])))
  for (const paths of [keyed, flagged]) paths.delete('_id')
  const searchable = new Map(
    [...keyed].map(path => {
      const exists = flagged.has(path) ? `${flagName(path)} = 1` : existsInDoc(path)
      return [path, { path, key: keyName(path), exists }]
    }),
  )
  // A Date is stored as text, and SQL would take it for an equal text.
  searchable.delete('purge_at')
  return {
    stored: [...[...keyed].map(keyColumn), ...[...flagged].map(flagColumn), ...(spec.purged ? [PURGE_TIME] : [])],
    searchable,
    keySql(path) {
      if (path === '_id') return ID.key
      return keyed.has(path) ? keyName(path) : keyInDoc(path)
    },
  }
}

export const ID: IndexedPath = { path: '_id', key: '_id', exists: '1' }

const keyName = (path: string): string => quoted(`key ${path}`)
const flagName = (path: string): string => quoted(`has ${path}`)

function keyColumn(path: string): Column {
  const valueAt = createPathReader(path)
  const name = keyName(path)
  return { name, definition: `${name} NOT NULL`, valueIn: doc => keyOf(valueAt(doc)) }
}

function flagColumn(path: string): Column {
  const valueAt = createPathReader(path)
  const name = flagName(path)
  return { name, definition: `${name} NOT NULL`, valueIn: doc => (valueAt(doc) === undefined ? 0 : 1) }
}

/** The time of `purge_at`, or NULL in a document that is never purged. */
export const PURGE_TIME: Column = {
  name: 'purge_time',
  definition: 'purge_time',
  valueIn({ purge_at }: { purge_at?: unknown }) {
    const isTime = purge_at instanceof Date || typeof purge_at === 'string'
    const time = isTime ? new Date(purge_at).getTime() : Number.NaN
    return Number.isNaN(time) ? null : time
  },
}

function createPathReader(path: string): (doc: Doc) => unknown {
  const names = namesOf(path)
  return doc => {
    let value: unknown = doc
    let depth = 0
    for (; depth < names.length && isObject(value); depth++) value = member(value, names[depth] ?? '')
    if (Array.isArray(value)) throw new ListAtIndexedPath(path)
    return depth === names.length ? value : undefined
  }
}

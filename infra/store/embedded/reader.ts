// Reads one collection. In: ids, filters, pages. Out: committed documents.
import { deepFreeze } from '../../deep-freeze.ts'
import { setOwn } from '../../without-members.ts'
import { refuseVagueFilter, shapeOf } from '../conditions.ts'
import { type Doc, type Docs, type Filter, type Sort, Unindexed } from '../docs.ts'
import { isServedByIndex } from '../index-coverage.ts'
import { decode } from './json.ts'
import type { LatestDocs } from './latest-docs.ts'
import { createMatcher } from './matcher.ts'
import type { Select } from './select.ts'
import type { Sqlite } from './sqlite.ts'
import type { Table } from './table.ts'
import { isObject, member } from './values.ts'

export interface Reader<T extends Doc> extends Pick<Docs<T>, 'get' | 'find' | 'count'> {
  /** Throws for a filter with an undefined member and, when strict, for one that no index serves. */
  check(filter: Filter<T>, sort?: Sort<T>): void
  /** A document that the caller may change. */
  getOne(id: string): T | undefined
  /** Matching documents, which the caller may change, read as far as it iterates. */
  findMatching(filter: Filter<T>, select: Select, limit: number): Generator<T>
}

/** Candidates are read in growing portions, so that a short page reads few and a long one needs few statements. */
const MIN_PORTION = 32
const MAX_PORTION = 4_096
/** More than any collection holds, and still a number that SQLite accepts as a limit. */
export const NO_LIMIT = 2 ** 40

export interface ReaderOptions<T extends Doc> {
  sqlite: Sqlite
  table: Table
  latest: LatestDocs<T>
  strict: boolean
}

export function createReader<T extends Doc>({ sqlite, table, latest, strict }: ReaderOptions<T>): Reader<T> {
  // Frozen as those of `latest` are, so that a test does not depend on whether a document is still among them.
  const freezes = strict && table.spec.keepLatest === true
  const parse = (text: unknown): T => (freezes ? deepFreeze(decode<T>(text)) : decode<T>(text))

  function check(filter: Filter<T>, sort?: Sort<T>): void {
    refuseVagueFilter(filter)
    if (strict && !isServedByIndex(table.spec, filter, sort))
      throw new Unindexed(`${table.collection}: ${shapeOf(filter)} by ${JSON.stringify(sort ?? {})}`)
  }

  function getOne(id: string): T | undefined {
    const text = sqlite.value(table.get, [id])
    return text === undefined ? undefined : decode<T>(text)
  }

  function getMany(ids: readonly string[]): T[] {
    const [only] = ids
    if (only === undefined) return []
    const texts =
      ids.length === 1 ? [sqlite.value(table.get, [only])] : sqlite.column(table.getMany, [JSON.stringify(ids)])
    return texts.filter(text => text !== undefined).map(parse)
  }

  function* findMatching(filter: Filter<T>, select: Select, limit: number): Generator<T> {
    if (!(limit > 0)) return
    const maxDocs = Math.min(Math.ceil(limit), NO_LIMIT)
    if (select.exact) {
      for (const text of sqlite.column(select.sql, select.params(maxDocs, 0))) yield decode<T>(text)
      return
    }
    const matches = createMatcher(filter)
    let left = maxDocs
    for (let offset = 0, size = MIN_PORTION; ; offset += size, size = Math.min(size * 4, MAX_PORTION)) {
      const texts = sqlite.column(select.sql, select.params(size, offset))
      for (const text of texts) {
        const doc = decode<T>(text)
        if (!matches(doc)) continue
        yield doc
        if (--left === 0) return
      }
      if (texts.length < size) return
    }
  }

  async function get(ids: readonly string[]): Promise<Map<string, T>> {
    const texts = ids.map(String)
    const found = new Map<string, T>()
    for (const id of texts) {
      const doc = latest.get(id)
      if (doc) found.set(id, doc)
    }
    for (const doc of getMany(texts.filter(id => !found.has(id)))) found.set(doc._id, doc)
    return found
  }

  return {
    check,
    getOne,
    findMatching,
    get,
    async find(filter, { sort, limit, only }) {
      check(filter, sort)
      const found = [...findMatching(filter, table.find(filter, sort), limit)]
      // Leaving members out saves nothing here. Where strict it is done all the same, so that tests find code that uses one of them.
      const answered = strict && only ? found.map(doc => withOnly(doc, only)) : found
      return freezes ? answered.map(deepFreeze) : answered
    },
    async count(filter, max = NO_LIMIT) {
      check(filter)
      const { sql, params, exact } = table.count(filter)
      if (exact) return sqlite.value(sql, [...params, max]) as number
      let found = 0
      for (const _ of findMatching(filter, table.match(filter), max)) found++
      return found
    },
  }
}

/** The document with its `_id` and the members at these paths. A list on a path is kept whole. */
function withOnly<T extends Doc>(doc: T, paths: readonly string[]): T {
  const picked: Record<string, unknown> = { _id: doc._id }
  for (const path of paths) pick(doc as unknown as Record<string, unknown>, picked, path.split('.'))
  return picked as unknown as T
}

function pick(from: Record<string, unknown>, to: Record<string, unknown>, [name = '', ...deeper]: string[]): void {
  const value = member(from, name)
  if (value === undefined) return
  if (deeper.length === 0 || !isObject(value)) {
    setOwn(to, name, value)
    return
  }
  const inner = member(to, name)
  const holder = isObject(inner) ? inner : {}
  setOwn(to, name, holder)
  pick(value, holder, deeper)
}

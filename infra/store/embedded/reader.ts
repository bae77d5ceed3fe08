// Reads one collection. In: ids, filters, pages. Out: committed documents.
import { refuseVagueFilter, shapeOf } from '../conditions.ts'
import { type Doc, type Docs, type Filter, type Sort, Unindexed } from '../docs.ts'
import { isServedByIndex } from '../index-coverage.ts'
import { decode } from './json.ts'
import { createMatcher } from './matcher.ts'
import type { Select } from './select.ts'
import type { Sqlite } from './sqlite.ts'
import type { Table } from './table.ts'

export interface Reader<T extends Doc> extends Pick<Docs<T>, 'get' | 'find' | 'count'> {
  /** Throws for a filter with an undefined member and, when strict, for one that no index serves. */
  check(filter: Filter<T>, sort?: Sort<T>): void
  getOne(id: string): T | undefined
  /** Matching documents, read as far as the caller iterates. */
  findMatching(filter: Filter<T>, select: Select, limit: number): Generator<T>
}

/** Candidates are read in growing portions, so that a short page reads few and a long one needs few statements. */
const MIN_PORTION = 32
const MAX_PORTION = 4_096
/** More than any collection holds, and still a number that SQLite accepts as a limit. */
export const NO_LIMIT = 2 ** 40

export function createReader<T extends Doc>(sqlite: Sqlite, table: Table, strict: boolean): Reader<T> {
  function check(filter: Filter<T>, sort?: Sort<T>): void {
    refuseVagueFilter(filter)
    if (strict && !isServedByIndex(table.spec, filter, sort))
      throw new Unindexed(`${table.collection}: ${shapeOf(filter)} by ${JSON.stringify(sort ?? {})}`)
  }

  function getOne(id: string): T | undefined {
    const text = sqlite.value(table.get, [id])
    return text === undefined ? undefined : decode<T>(text)
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
    const [only] = texts
    if (only !== undefined && texts.length === 1) {
      const doc = getOne(only)
      return new Map(doc ? [[doc._id, doc]] : [])
    }
    const found = sqlite.column(table.getMany, [JSON.stringify(texts)])
    return new Map(found.map(decode<T>).map(doc => [doc._id, doc]))
  }

  return {
    check,
    getOne,
    findMatching,
    get,
    async find(filter, { sort, limit }) {
      check(filter, sort)
      return [...findMatching(filter, table.find(filter, sort), limit)]
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

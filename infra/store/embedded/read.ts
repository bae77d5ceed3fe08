// Reading one collection. In: ids, filters, pages. Out: documents as they are committed.
import { refuseVagueFilter, shapeOf } from '../conditions.ts'
import { type Doc, type Docs, type Filter, type Sort, Unindexed } from '../docs.ts'
import { servedBy } from '../served.ts'
import type { Engine } from './engine.ts'
import { decode } from './json.ts'
import { matcher } from './match.ts'
import type { Select } from './select.ts'
import type { Table } from './table.ts'

export interface Reading<T extends Doc> extends Pick<Docs<T>, 'get' | 'find' | 'count'> {
  /** Throws where a filter says too little, and, when strict, where no index serves it. */
  check(filter: Filter<T>, sort?: Sort<T>): void
  one(id: string): T | undefined
  /** What matches, read on as far as the caller goes on. */
  matching(filter: Filter<T>, select: Select, limit: number): Generator<T>
}

/** Candidates are read in portions that grow, so that neither few nor many cost more than a few statements. */
const FIRST_PORTION = 32
const LAST_PORTION = 4_096
/** Past what any collection holds, and still a number SQLite takes for a limit. */
export const NO_LIMIT = 2 ** 40

export function reading<T extends Doc>(engine: Engine, table: Table, strict: boolean): Reading<T> {
  function check(filter: Filter<T>, sort?: Sort<T>): void {
    refuseVagueFilter(filter)
    if (strict && !servedBy(table.spec, filter, sort))
      throw new Unindexed(`${table.collection}: ${shapeOf(filter)} by ${JSON.stringify(sort ?? {})}`)
  }

  function one(id: string): T | undefined {
    const text = engine.value(table.get, [id])
    return text === undefined ? undefined : decode<T>(text)
  }

  function* matching(filter: Filter<T>, select: Select, limit: number): Generator<T> {
    if (!(limit > 0)) return
    const most = Math.min(Math.ceil(limit), NO_LIMIT)
    if (select.exact) {
      for (const text of engine.column(select.sql, select.params(most, 0))) yield decode<T>(text)
      return
    }
    const matches = matcher(filter)
    let left = most
    for (let offset = 0, size = FIRST_PORTION; ; offset += size, size = Math.min(size * 4, LAST_PORTION)) {
      const texts = engine.column(select.sql, select.params(size, offset))
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
    const found =
      texts.length === 1 ? engine.column(table.get, texts) : engine.column(table.getMany, [JSON.stringify(texts)])
    return new Map(found.map(decode<T>).map(doc => [doc._id, doc]))
  }

  return {
    check,
    one,
    matching,
    get,
    async find(filter, { sort, limit }) {
      check(filter, sort)
      return [...matching(filter, table.find(filter, sort), limit)]
    },
    async count(filter) {
      check(filter)
      const { sql, params, exact } = table.count(filter)
      if (exact) return engine.value(sql, params) as number
      let found = 0
      for (const _ of matching(filter, table.match(filter), NO_LIMIT)) found++
      return found
    },
  }
}

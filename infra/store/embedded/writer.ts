// Writes to one collection. In: documents, changes, updates. Out: answers, once the group commit is on disk.
import { Unavailable } from '../../unavailable.ts'
import { conditionsOf, idToInsert } from '../conditions.ts'
import {
  type Change,
  type Doc,
  type Docs,
  Duplicate,
  type Filter,
  type Operators,
  type RevisedDoc,
  type Update,
} from '../docs.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Encode } from './json.ts'
import type { LatestDocs } from './latest-docs.ts'
import { applyPipeline } from './pipeline.ts'
import { NO_LIMIT, type Reader } from './reader.ts'
import type { Bound, Sqlite } from './sqlite.ts'
import type { Table } from './table.ts'
import { applyOperators } from './update-operators.ts'

/** Writing so many takes some milliseconds. */
const DOCUMENTS_PER_PART = 16

type Writer<T extends Doc> = Pick<Docs<T>, 'insert' | 'change' | 'update' | 'modify' | 'remove'>

export interface WriterOptions<T extends Doc> {
  sqlite: Sqlite
  commits: GroupCommit
  table: Table
  reader: Reader<T>
  latest: LatestDocs<T>
  encode: Encode
}

export function createWriter<T extends Doc>(options: WriterOptions<T>): Writer<T> {
  const { sqlite, commits, table, reader, latest, encode } = options

  /** Serialises a document, and answers a function that writes it within a transaction, unless its `_id` or a value of a unique index is
   *  taken; it answers whether it wrote. */
  function insertOf(doc: T): () => boolean {
    const row: Bound[] = [doc._id, ...table.columnValues(doc), encode(doc)]
    const stored = latest.share(doc)
    return () => {
      const isInserted = sqlite.run(table.insert, row) === 1
      if (isInserted) latest.set(stored)
      return isInserted
    }
  }

  function rewrite(doc: T, edit: () => T): T {
    const valuesBefore = table.columnValues(doc)
    const after = edit()
    const values = table.columnValues(after)
    const isChanged = (_: unknown, column: number): boolean => values[column] !== valuesBefore[column]
    const sql = table.replace(table.columns.filter(isChanged))
    sqlite.run(sql, [...values.filter(isChanged), encode(after), after._id])
    latest.set(after)
    return after
  }

  /** A computed update changes the document that it is given, so that one is read. */
  const docToUpdate = (id: string, update: Update<T>): T | undefined =>
    (Array.isArray(update) ? undefined : latest.get(id)) ?? reader.getOne(id)

  function changeOne({ _id, rev, update }: Change<T & RevisedDoc>): 'won' | 'lost' {
    const doc = docToUpdate(_id, update) as (T & RevisedDoc) | undefined
    if (doc?.rev !== rev) return 'lost'
    rewrite(doc, () => {
      const after = apply(doc, update)
      after.rev = rev + 1
      return after
    })
    return 'won'
  }

  function updateOne(id: string, update: Update<T>): 'updated' | 'missing' {
    const doc = docToUpdate(id, update)
    if (!doc) return 'missing'
    rewrite(doc, () => apply(doc, update))
    return 'updated'
  }

  function upsert(filter: Filter<T>, update: Update<T>): T {
    const doc = apply(newDocument(filter), update)
    const insert = insertOf(doc)
    if (!insert()) throw new Duplicate(`${table.collection}: the _id is taken, or a unique index refused`)
    return doc
  }

  /** Writes a long list in parts, because a commit can end between two writes and not within one. When a part fails, the others are
   *  written all the same. */
  async function writeInParts<A, B>(all: readonly A[], writeOne: (one: A) => B): Promise<B[]> {
    const parts: Promise<B[]>[] = []
    for (let at = 0; at < all.length; at += DOCUMENTS_PER_PART) {
      const part = all.slice(at, at + DOCUMENTS_PER_PART)
      parts.push(commits.write(() => mapAll(part, writeOne)))
    }
    return (await allFinished(parts)).flat()
  }

  return {
    async insert(docs) {
      // Serialised now, because the caller may change the documents before the group commit, unless the collection keeps the latest.
      return writeInParts(docs.map(insertOf), write => (write() ? 'inserted' : 'duplicate'))
    },
    async change(changes) {
      return writeInParts(changes as readonly Change<T & RevisedDoc>[], changeOne)
    },
    async update(updates) {
      const all = updates.flatMap(({ ids, update }) => ids.map(id => ({ id, update })))
      return writeInParts(all, ({ id, update }) => updateOne(id, update))
    },
    async modify(filter, update, options) {
      reader.check(filter)
      if (options?.upsert) idToInsert(filter)
      return commits.write(() => {
        const [doc] = reader.findMatching(filter, table.match(filter), 1)
        if (!doc) return options?.upsert ? upsert(filter, update) : null
        return rewrite(doc, () => apply(doc, update))
      })
    },
    async remove(filter, limit) {
      reader.check(filter)
      const { sql, params, exact } = table.remove(filter)
      return commits.write(() => {
        latest.clear()
        if (!(limit > 0)) return 0
        if (exact) return sqlite.run(sql, [...params, Math.min(Math.ceil(limit), NO_LIMIT)])
        const found = [...reader.findMatching(filter, table.match(filter), limit)]
        return found.reduce((removed, doc) => removed + sqlite.run(table.drop, [doc._id]), 0)
      })
    },
  }
}

/** The document after an update. A computed one changes `doc` itself. */
function apply<T extends Doc>(doc: T, update: Update<T>): T {
  if (!Array.isArray(update)) return applyOperators(doc, update as Operators<T>)
  applyPipeline(doc, update)
  return doc
}

/** A new document starts with the values that the filter names. */
function newDocument<T extends Doc>(filter: Filter<T>): T {
  const doc: Doc = { _id: idToInsert(filter) }
  const equalities = [...conditionsOf(filter)].filter(([path, condition]) => path !== '_id' && '$eq' in condition)
  return applyOperators(doc, { $set: Object.fromEntries(equalities.map(([path, { $eq }]) => [path, $eq])) }) as T
}

/** Waits for all of them, and then throws the first failure. */
async function allFinished<R>(all: readonly Promise<R>[]): Promise<R[]> {
  await Promise.allSettled(all)
  return Promise.all(all)
}

/** Runs `work` for every value, even after a failure, and then throws the first failure. */
function mapAll<A, B>(values: readonly A[], work: (value: A) => B): B[] {
  const failures: unknown[] = []
  const answers = values.map(value => {
    try {
      return [work(value)]
    } catch (error) {
      if (error instanceof Unavailable) throw error
      failures.push(error)
      return []
    }
  })
  if (failures.length > 0) throw failures[0]
  return answers.flat()
}

// How new documents get into their tables. In: the tables. Out: for each collection, a function that makes the insert of a document.
import type { Doc } from '../docs.ts'
import type { Encode } from './json.ts'
import type { Bound, Sqlite } from './sqlite.ts'
import type { Table } from './table.ts'

/** Serialises a document, and answers a function that writes it within a transaction, unless its `_id` or a value of a unique index is
 *  taken; it answers whether it wrote. */
export type Inserter = (doc: Doc) => () => boolean

/** Throws a TypeError for a collection that is not declared. */
export type Inserters = (collection: string) => Inserter

export function createInserters(sqlite: Sqlite, tables: readonly Table[], encode: Encode): Inserters {
  const inserters = new Map(
    tables.map((table): [string, Inserter] => [
      table.collection,
      doc => {
        const row: Bound[] = [doc._id, ...table.columnValues(doc), encode(doc)]
        return () => sqlite.run(table.insert, row) === 1
      },
    ]),
  )
  return collection => {
    const found = inserters.get(collection)
    if (!found) throw new TypeError(`No collection ${collection} is declared`)
    return found
  }
}

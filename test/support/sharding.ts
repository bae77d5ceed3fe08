// Which shards of a cluster a query asks. In: the declaration of a collection, a filter, and the indexes of the query's plan. Out: whether
// the filter names the shard key, and who is declared to ask without it.
import { indexDescriptionsOf } from '../../infra/store/mongo/indexes.ts'
import type { CollectionSpec, Scatter } from '../../infra/store/store.ts'

export type AnyFilter = Record<string, unknown>

/** The query reads from few shards: those of the values that it names for the first field of the key, the whole of a hashed one. */
export const namesShardKey = (spec: CollectionSpec, filter: AnyFilter): boolean =>
  names(filter, keyFields(spec)[0] ?? '')

/** A cluster changes one document only where the filter names its shard key. An update or a removal may name its `_id` instead. */
export const isOneDocument = (spec: CollectionSpec, filter: AnyFilter, operation: string): boolean =>
  keyFields(spec).every(path => names(filter, path)) || (operation !== 'modify' && names(filter, '_id'))

export const keyFields = ({ sharding }: CollectionSpec): string[] => Object.keys(sharding?.key ?? {})

/** What is declared for an index, by the name that MongoDB's plans have for it. */
export function scatterOf(spec: CollectionSpec, indexName: string): Scatter | undefined {
  if (indexName === '_id_') return spec.sharding?.byId
  const at = indexDescriptionsOf(spec).findIndex(({ name }) => name === indexName)
  return spec.indexes[at]?.scatter
}

function names(filter: AnyFilter, path: string): boolean {
  if (isExact(filter[path])) return true
  const [all, any] = [branches(filter.$and), branches(filter.$or)]
  return all.some(branch => names(branch, path)) || (any.length > 0 && any.every(branch => names(branch, path)))
}

const branches = (value: unknown): AnyFilter[] => (Array.isArray(value) ? value : [])

/** One value or a list of values, not a range. */
function isExact(condition: unknown): boolean {
  if (typeof condition !== 'object' || condition === null) return condition !== undefined
  return condition instanceof Date || '$eq' in condition || '$in' in condition
}

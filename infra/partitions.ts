// Splits due work into partitions. Each partition is leased by one sweeper at a time, and a sweeper may hold several, so that ten sweepers
// do not read the same documents.
import type { Scatter } from './store/store.ts'

export const PARTITIONS = 16

/** A sweeper asks once for all the partitions that it holds. */
export const SWEPT: Scatter = { asker: 'sweeper', why: 'each sweeper, once a second' }

/** By the last two characters: those of a ULID are random, and any other id has a partition too. */
export const partitionOf = (id: string): number =>
  (31 * id.charCodeAt(id.length - 2) + id.charCodeAt(id.length - 1)) % PARTITIONS

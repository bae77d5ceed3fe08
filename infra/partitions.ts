// Splits due work into partitions. Each partition is leased by one sweeper at a time, and a sweeper may hold several, so that ten sweepers
// do not read the same documents.
export const PARTITIONS = 16

/** By the last two characters: those of a ULID are random, and any other id has a partition too. */
export const partitionOf = (id: string): number =>
  (31 * id.charCodeAt(id.length - 2) + id.charCodeAt(id.length - 1)) % PARTITIONS

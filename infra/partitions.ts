// Splits due work into shares that sweepers lease one by one, so that ten of them do not fight over the same rows.
export const PARTITIONS = 16

/** The end of a ULID is random; any id at all has some share. */
export const partitionOf = (id: string): number =>
  (31 * id.charCodeAt(id.length - 2) + id.charCodeAt(id.length - 1)) % PARTITIONS

// Splits due work into shares that sweepers lease one by one, so that ten of them do not fight over the same rows.
export const PARTITIONS = 16

/** The random end of a ULID is spread evenly. */
export const partitionOf = (id: string): number => Number.parseInt(id.slice(-2), 36) % PARTITIONS

// Random bytes in small numbers. A call for ten bytes costs more than making an id of them, so bytes are fetched in bulk. Each byte is
// used once.
import { Buffer } from 'node:buffer'
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4_096)
let used = pool.length

/** The caller must use the bytes at once: a later call may overwrite them. */
export function pooledRandom(size: number): Buffer {
  if (used + size > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += size
  return pool.subarray(used - size, used)
}

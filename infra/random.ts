// Random bytes for small needs. Asking the system for ten of them costs more than what is made with them, so they are fetched in bulk;
// each is handed out once.
import { Buffer } from 'node:buffer'
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4_096)
let used = pool.length

/** To be used at once: the next to ask may overwrite them. */
export function pooledRandom(size: number): Buffer {
  if (used + size > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += size
  return pool.subarray(used - size, used)
}

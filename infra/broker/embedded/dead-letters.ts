// The dead letters of one queue in memory. In: messages that died. Out: the port's `DeadLetters`.
// A restart loses them, and with them the work: `publish` resolves for a dead letter, so an effect is removed from the outbox, and a vendor
// gets a 2xx for a user's message or a receipt. Only the sweeper's reminders come again. A message that still waits is different: its
// `publish` has not resolved, so the effect is still in the outbox, and the vendor calls again.
// Past MAX_DEAD_LETTERS the oldest is dropped, so that a handler with a bug does not fill the memory of the process.
import { type Trace, withTrace } from '../../trace.ts'
import type { DeadLetter, DeadLetters } from '../broker.ts'

export const MAX_DEAD_LETTERS = 10_000

export interface MemoryDeadLetter {
  id: string
  /** JSON. */
  body: string
  trace: Trace | undefined
  publishedAt: number
  attempt: number
  reason: string
  diedAt: number
}

export interface MemoryDeadLetters extends DeadLetters {
  /** Replaces a letter with the same id. Answers the letter that was dropped for this one, if any. */
  add(letter: MemoryDeadLetter): MemoryDeadLetter | undefined
  size(): number
}

/** Letters are in the order in which they died, and so are their numbers. */
interface NumberedLetter extends MemoryDeadLetter {
  number: number
}

export function createMemoryDeadLetters(requeue: (letter: MemoryDeadLetter) => void): MemoryDeadLetters {
  const letters = new Map<string, NumberedLetter>()
  let added = 0

  function take(ids: readonly string[] | 'all'): MemoryDeadLetter[] {
    const found: MemoryDeadLetter[] = []
    for (const id of new Set(ids === 'all' ? letters.keys() : ids)) {
      const letter = letters.get(id)
      if (letter && letters.delete(id)) found.push(letter)
    }
    return found
  }

  return {
    add(letter) {
      letters.delete(letter.id)
      added += 1
      letters.set(letter.id, { ...letter, number: added })
      if (letters.size <= MAX_DEAD_LETTERS) return undefined
      const [oldest] = letters.keys()
      return oldest === undefined ? undefined : take([oldest])[0]
    },
    size: () => letters.size,
    async list(limit, after = '0') {
      return [...letters.values()]
        .filter(({ number }) => number > Number(after))
        .slice(0, limit)
        .map(toDeadLetter)
    },
    async get(id) {
      const letter = letters.get(id)
      return letter ? toDeadLetter(letter) : null
    },
    async requeue(ids) {
      const found = take(ids)
      for (const letter of found) requeue(letter)
      return found.length
    },
    async drop(ids) {
      return take(ids).length
    },
  }
}

const toDeadLetter = ({ id, body, trace, reason, attempt, diedAt, number }: NumberedLetter): DeadLetter => ({
  id,
  body: JSON.parse(body),
  reason,
  attempt,
  diedAt,
  position: String(number),
  ...withTrace(trace),
})

// The dead letters of one queue in memory. In: messages that died. Out: what the port's DeadLetters asks for.
// A restart forgets them, as it forgets every message here: the store knows what was to be done. And they are bounded: past
// MOST_LETTERS the oldest is dropped, so that a handler with a bug does not fill the memory of the process.
import type { DeadLetters } from '../broker.ts'

export const MOST_LETTERS = 10_000

export interface Buried {
  id: string
  /** JSON. */
  body: string
  publishedAt: number
  attempt: number
  reason: string
  diedAt: number
}

export interface Graves extends DeadLetters {
  /** Answers the letter that had to go, if one had to. One that dies again takes the place of its earlier death. */
  bury(letter: Buried): Buried | undefined
}

export function graves(requeue: (letter: Buried) => void): Graves {
  const letters = new Map<string, Buried>()

  function takeOut(ids: string[]): Buried[] {
    const found: Buried[] = []
    for (const id of new Set(ids)) {
      const letter = letters.get(id)
      if (letter && letters.delete(id)) found.push(letter)
    }
    return found
  }

  return {
    bury(letter) {
      letters.delete(letter.id)
      letters.set(letter.id, letter)
      if (letters.size <= MOST_LETTERS) return undefined
      const [oldest] = letters.keys()
      return oldest === undefined ? undefined : takeOut([oldest])[0]
    },
    async list(limit) {
      return [...letters.values()]
        .slice(0, limit)
        .map(({ id, body, reason, attempt, diedAt }) => ({ id, body: JSON.parse(body), reason, attempt, diedAt }))
    },
    async requeue(ids) {
      const found = takeOut(ids)
      for (const letter of found) requeue(letter)
      return found.length
    },
    async drop(ids) {
      return takeOut(ids).length
    },
    async count() {
      return letters.size
    },
  }
}

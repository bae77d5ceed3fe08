// Remembers what was loaded for a short while, bounded in number and in age, and loads each thing once however many ask.
import type { Clock } from './clock.ts'

export interface Cache<Value> {
  get(key: string): Promise<Value>
  forget(key: string): void
}

export function cached<Value>(
  load: (key: string) => Promise<Value>,
  { forMs, most, clock }: { forMs: number; most: number; clock: Pick<Clock, 'now'> },
): Cache<Value> {
  const known = new Map<string, { value: Promise<Value>; until: number }>()
  return {
    get(key) {
      const found = known.get(key)
      if (found && clock.now() < found.until) return found.value
      const value = load(key)
      known.delete(key)
      known.set(key, { value, until: clock.now() + forMs })
      // A failure is nobody's answer but those who were waiting for it.
      value.catch(() => {
        if (known.get(key)?.value === value) known.delete(key)
      })
      // The oldest loaded goes first: what is asked for often is soon back, at the end of the line.
      if (known.size > most) known.delete(known.keys().next().value as string)
      return value
    },
    forget: key => {
      known.delete(key)
    },
  }
}

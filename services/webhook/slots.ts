// How many calls may be under way: so many per endpoint, so many in this process. A slow endpoint fills its own slots and nobody
// else's; whoever finds none leaves its event in the store.

export interface Slots {
  /** How many more calls this app's endpoint may have, of at most `cap`. */
  room(app_id: string, cap: number): number
  /** Takes a slot, if there is one. */
  take(app_id: string, cap: number): boolean
  release(app_id: string): void
  /** Resolves when a call of this app ends, or one of anybody's when it has none itself. */
  released(app_id: string): Promise<void>
}

export function slots(total: number): Slots {
  const taken = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>()
  let all = 0

  const room = (app_id: string, cap: number): number =>
    Math.max(0, Math.min(cap - (taken.get(app_id) ?? 0), total - all))

  function wake(app_id: string): void {
    const woken = waiting.get(app_id) ?? []
    waiting.delete(app_id)
    for (const resolve of woken) resolve()
  }

  return {
    room,
    take(app_id, cap) {
      if (room(app_id, cap) === 0) return false
      taken.set(app_id, (taken.get(app_id) ?? 0) + 1)
      all += 1
      return true
    },
    release(app_id) {
      const left = (taken.get(app_id) ?? 0) - 1
      if (left > 0) taken.set(app_id, left)
      else taken.delete(app_id)
      all -= 1
      wake(app_id)
      for (const one of [...waiting.keys()]) if (!taken.has(one)) wake(one)
    },
    released: app_id =>
      new Promise(resolve => {
        waiting.set(app_id, [...(waiting.get(app_id) ?? []), resolve])
      }),
  }
}

// How many calls may be under way: so many per endpoint, so many per company, so many in this process. A slow endpoint fills its own
// slots and nobody else's, however many of them a company has; whoever finds none leaves its event in the store.
import type { EventDoc } from '../domain/webhooks/documents.ts'

/** Whose call it is. */
export type Owner = Pick<EventDoc, 'app_id' | 'company_id'>

export interface Slots {
  /** How many more calls this app's endpoint may have, of at most `cap`. */
  room(owner: Owner, cap: number): number
  /** Takes a slot, if there is one. */
  take(owner: Owner, cap: number): boolean
  release(owner: Owner): void
  /** Resolves when a call of this app ends, or one of anybody's when it has none itself. */
  released(app_id: string): Promise<void>
}

export interface Most {
  inAll: number
  ofOneCompany: number
}

export function slots({ inAll, ofOneCompany }: Most): Slots {
  const [ofApp, ofCompany] = [tally(), tally()]
  const waiting = new Map<string, (() => void)[]>()
  let all = 0

  const room = ({ app_id, company_id }: Owner, cap: number): number =>
    Math.max(0, Math.min(cap - ofApp.of(app_id), ofOneCompany - ofCompany.of(company_id), inAll - all))

  function count({ app_id, company_id }: Owner, more: 1 | -1): void {
    ofApp.add(app_id, more)
    ofCompany.add(company_id, more)
    all += more
  }

  function wake(app_id: string): void {
    const woken = waiting.get(app_id) ?? []
    waiting.delete(app_id)
    for (const resolve of woken) resolve()
  }

  return {
    room,
    take(owner, cap) {
      if (room(owner, cap) === 0) return false
      count(owner, 1)
      return true
    },
    release(owner) {
      count(owner, -1)
      wake(owner.app_id)
      for (const one of [...waiting.keys()]) if (ofApp.of(one) === 0) wake(one)
    },
    released: app_id =>
      new Promise(resolve => {
        waiting.set(app_id, [...(waiting.get(app_id) ?? []), resolve])
      }),
  }
}

/** Counts by id; what is at nought is forgotten. */
function tally() {
  const counts = new Map<string, number>()
  const of = (id: string): number => counts.get(id) ?? 0
  return {
    of,
    add(id: string, more: 1 | -1): void {
      const now = of(id) + more
      if (now === 0) counts.delete(id)
      else counts.set(id, now)
    },
  }
}

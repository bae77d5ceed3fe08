// A short queue in memory before each endpoint, for events that are claimed already: an endpoint that answers frees a slot within
// moments, and to put an event into the store's backlog for moments costs more than to send it. Whoever has waited too long is shown
// out: its endpoint does not answer, and the store is the better place.
import type { Clock } from '../../infra/clock.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { Endpoint } from './endpoints.ts'

export interface Waiting {
  event: EventDoc
  endpoint: Endpoint
}

export interface WaitingRoom {
  /** Keeps a seat for one more, if there is one. */
  keepSeat(app_id: string): boolean
  giveBackSeat(app_id: string): void
  /** Takes the seat that was kept. */
  sit(one: Waiting): void
  /** Who has waited longest; the seat is free again. */
  next(app_id: string): Waiting | undefined
  /** Shows everybody out, and whoever still comes. */
  close(): void
}

export interface WaitingParts {
  clock: Clock
  /** Those who have waited too long, of one app. */
  showOut(tired: Waiting[]): void
}

const SEATS_PER_APP = 500
const SEATS = 5_000
const PATIENCE_MS = 2_000

interface Line {
  seats: number
  waiting: { one: Waiting; since: number }[]
  armed: boolean
}

export function waitingRoom({ clock, showOut }: WaitingParts): WaitingRoom {
  const lines = new Map<string, Line>()
  let taken = 0
  let closed = false

  function free(app_id: string, line: Line): void {
    line.seats -= 1
    taken -= 1
    if (line.seats === 0 && !line.armed) lines.delete(app_id)
  }

  /** Those who sat down until then. */
  function empty(app_id: string, line: Line, until: number): void {
    const after = line.waiting.findIndex(({ since }) => since > until)
    const tired = line.waiting.splice(0, after < 0 ? line.waiting.length : after)
    for (const _ of tired) free(app_id, line)
    if (tired.length > 0) showOut(tired.map(({ one }) => one))
  }

  function arm(app_id: string, line: Line): void {
    if (line.armed) return
    line.armed = true
    const since = line.waiting[0]?.since ?? clock.now()
    clock.after(since + PATIENCE_MS - clock.now(), () => {
      line.armed = false
      empty(app_id, line, clock.now() - PATIENCE_MS)
      if (line.waiting.length > 0) arm(app_id, line)
      else if (line.seats === 0) lines.delete(app_id)
    })
  }

  return {
    keepSeat(app_id) {
      const line = lines.get(app_id) ?? { seats: 0, waiting: [], armed: false }
      if (line.seats >= SEATS_PER_APP || taken >= SEATS) return false
      lines.set(app_id, line)
      line.seats += 1
      taken += 1
      return true
    },
    giveBackSeat(app_id) {
      const line = lines.get(app_id)
      if (line) free(app_id, line)
    },
    sit(one) {
      const line = lines.get(one.event.app_id)
      if (!line) throw new Error('no seat was kept')
      line.waiting.push({ one, since: clock.now() })
      if (closed) empty(one.event.app_id, line, clock.now())
      else arm(one.event.app_id, line)
    },
    next(app_id) {
      const line = lines.get(app_id)
      const seated = line?.waiting.shift()
      if (line && seated) free(app_id, line)
      return seated?.one
    },
    close() {
      closed = true
      for (const [app_id, line] of lines) empty(app_id, line, clock.now())
    },
  }
}

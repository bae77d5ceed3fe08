// A list in memory that consumers share. In: entries, in order. Out: each to one consumer in turn, none past its prefetch.
import { setImmediate } from 'node:timers'
import type { Consumer, Depth } from '../broker.ts'
import { fifo } from '../fifo.ts'

/** Who takes entries for a consumer. */
export interface Hands<Entry> {
  accept(entry: Entry): void
  stop(graceMs?: number): Promise<void>
}

export interface SharedQueue<Entry> {
  push(entry: Entry): void
  /** Back to the head, in their order. */
  giveBack(entries: Entry[]): void
  /** `free` says that one of the entries accepted is settled. */
  attach(prefetch: number, hands: (free: () => void) => Hands<Entry>): Consumer
  peek(): Entry | undefined
  shift(): Entry | undefined
  /** Takes out what waits. */
  clear(): Entry[]
  depth(): Depth
  stopConsumers(graceMs?: number): Promise<void>
}

export function sharedQueue<Entry>(): SharedQueue<Entry> {
  interface Seat {
    held: number
    prefetch: number
    hands: Hands<Entry>
  }
  const ready = fifo<Entry>()
  const seats: Seat[] = []
  const consumers = new Set<Consumer>()
  let turn = 0
  let scheduled = false

  // Once per turn of the event loop: what several sockets brought in one turn goes out together, an idle process loses no
  // time, and handlers that never wait for I/O cannot starve it.
  function wake(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(feed)
  }

  function feed(): void {
    scheduled = false
    for (let full = 0; full < seats.length && ready.size > 0; turn += 1) {
      const seat = seats[turn % seats.length]
      if (!seat || seat.held >= seat.prefetch) {
        full += 1
        continue
      }
      full = 0
      seat.held += 1
      seat.hands.accept(ready.shift() as Entry)
    }
  }

  return {
    push(entry) {
      ready.push(entry)
      wake()
    },
    giveBack(entries) {
      ready.unshift(entries)
      wake()
    },
    attach(prefetch, hands) {
      const free = (): void => {
        seat.held -= 1
        wake()
      }
      const seat: Seat = { held: 0, prefetch, hands: hands(free) }
      seats.push(seat)
      const consumer: Consumer = {
        attached: () => seats.includes(seat),
        async stop(graceMs) {
          if (seats.includes(seat)) seats.splice(seats.indexOf(seat), 1)
          await seat.hands.stop(graceMs)
          consumers.delete(consumer)
        },
      }
      consumers.add(consumer)
      wake()
      return consumer
    },
    peek: ready.peek,
    shift: ready.shift,
    clear: ready.clear,
    depth: () => ({ ready: ready.size, consumers: seats.length }),
    async stopConsumers(graceMs) {
      await Promise.all([...consumers].map(consumer => consumer.stop(graceMs)))
    },
  }
}

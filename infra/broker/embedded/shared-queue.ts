// A queue in memory that consumers share. In: entries, in order. Out: each entry goes to one consumer, in turn, and no consumer
// gets more than its prefetch.
import { setImmediate } from 'node:timers'
import type { Clock } from '../../clock.ts'
import { createFifo } from '../../fifo.ts'
import type { AttachedConsumer } from '../pausable-consumer.ts'

/** Takes the entries of one consumer. */
export interface Receiver<Entry> {
  accept(entry: Entry): void
  stop(graceMs?: number): Promise<void>
}

/** What waits in a queue. */
export interface Waiting {
  /** When it began to wait, in epoch milliseconds. An entry that a consumer returned has waited all the time. */
  readySince: number
}

export interface QueueLength {
  ready: number
  consumers: number
  oldestMs: number | null
}

export interface SharedQueue<Entry extends Waiting> {
  push(entry: Entry): void
  /** Puts entries back at the head, in their order. */
  requeue(entries: Entry[]): void
  /** The receiver calls `release` for each accepted entry once it is settled. */
  attach(prefetch: number, receiver: (release: () => void) => Receiver<Entry>): AttachedConsumer
  peek(): Entry | undefined
  shift(): Entry | undefined
  /** Takes out every waiting entry. */
  clear(): Entry[]
  length(): QueueLength
  stopConsumers(graceMs?: number): Promise<void>
}

export function createSharedQueue<Entry extends Waiting>(clock: Pick<Clock, 'now'>): SharedQueue<Entry> {
  interface Attachment {
    held: number
    prefetch: number
    receiver: Receiver<Entry>
  }
  const ready = createFifo<Entry>()
  const attachments: Attachment[] = []
  const consumers = new Set<AttachedConsumer>()
  let position = 0
  let scheduled = false

  // Once per turn of the event loop: entries that several sockets brought in one turn go out together, an idle process waits for
  // nothing, and handlers that never wait for I/O cannot starve the event loop.
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(distribute)
  }

  function distribute(): void {
    scheduled = false
    for (let full = 0; full < attachments.length && ready.size > 0; position += 1) {
      const attachment = attachments[position % attachments.length]
      if (!attachment || attachment.held >= attachment.prefetch) {
        full += 1
        continue
      }
      full = 0
      attachment.held += 1
      attachment.receiver.accept(ready.shift() as Entry)
    }
  }

  return {
    push(entry) {
      ready.push(entry)
      schedule()
    },
    requeue(entries) {
      ready.unshift(entries)
      schedule()
    },
    attach(prefetch, receiver) {
      const release = (): void => {
        attachment.held -= 1
        schedule()
      }
      const attachment: Attachment = { held: 0, prefetch, receiver: receiver(release) }
      attachments.push(attachment)
      const consumer: AttachedConsumer = {
        attached: () => attachments.includes(attachment),
        async stop(graceMs) {
          if (attachments.includes(attachment)) attachments.splice(attachments.indexOf(attachment), 1)
          await attachment.receiver.stop(graceMs)
          consumers.delete(consumer)
        },
      }
      consumers.add(consumer)
      schedule()
      return consumer
    },
    peek: ready.peek,
    shift: ready.shift,
    clear: ready.clear,
    length() {
      const oldest = ready.peek()
      const oldestMs = oldest === undefined ? null : Math.max(clock.now() - oldest.readySince, 0)
      return { ready: ready.size, consumers: attachments.length, oldestMs }
    },
    async stopConsumers(graceMs) {
      await Promise.all([...consumers].map(consumer => consumer.stop(graceMs)))
    },
  }
}

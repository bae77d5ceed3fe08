// Shares of the event loop. In: work, each piece with its owner. Out: its result. Work begins once its owner, and all
// owners together, have used no more than their share; what an owner leaves of it is saved up for a moment, so that a
// few pieces begin at once. So the work of all owners leaves most of the event loop to everything else, and the work of
// one leaves some to the others.
//
// How long a piece holds the loop is not known: the time in which the loop was active is divided among the pieces that were under way, with
// all else that ran meanwhile. So a piece costs more while the process is busy, and waiting for an engine or a vendor costs nothing.
import { performance } from 'node:perf_hooks'
import { createFifo, type Fifo } from './fifo.ts'

export interface LoopShares {
  /** Rejects with what `tooLate` makes, and does nothing, where the work would have to wait longer than `maxWaitMs`: at
   *  once where that is known, else after that time. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result>
  /** Whether the owner has so much waiting, or so many pieces in all, that another piece is rejected at once. */
  isFull(owner: string): boolean
}

export interface LoopSharesOptions {
  /** The shares of the event loop for one owner and for all. */
  share: { ofOne: number; ofAll: number }
  maxWaitMs: number
  /** Of one owner, under way or waiting. */
  maxPieces: number
  tooLate: () => Error
  /** Milliseconds that the loop was active since the start. */
  activeMs?: () => number
  now?: () => number
  after?: (ms: number, task: () => void) => void
}

/** What an owner saves up. */
const MAX_SAVED_MS = 75
/** Pieces of an owner. More would hold up everything else together, and each other where they change the same document. */
const MAX_AT_ONCE = 2
/** The same of an owner with less than this in savings. */
const FEW_AT_ONCE_BELOW_MS = MAX_SAVED_MS / 2
const FEW_AT_ONCE = 1
/** A piece during which the loop was idle for longer waits for something. It counts no more. */
const WAITS_AFTER_IDLE_MS = 500
/** The most that one piece is counted for: what waits for long must not pay for all that others do meanwhile. */
const MAX_COST_MS = 250
/** Until pieces were measured. */
const ASSUMED_COST_MS = 5
/** What a new measurement weighs. */
const WEIGHT = 0.2
const INTERVAL_MS = 5

interface Owner {
  budget: Budget
  waiting: Fifo<Waiting>
  /** How many of its pieces are under way or wait. */
  pieces: number
  costMs: number
}

interface Begun {
  /** `begunAtIdleMs`: milliseconds that the loop had been idle when it began. */
  piece: { owner: Owner; begunAtIdleMs: number; costMs: number }
  paidMs: number
}

interface Waiting {
  since: number
  begin(): void
  giveUp(): void
}

export function createLoopShares({
  share,
  maxWaitMs,
  maxPieces,
  tooLate,
  activeMs = () => performance.eventLoopUtilization().active,
  now = () => performance.now(),
  after = (ms, task) => void setTimeout(task, ms).unref(),
}: LoopSharesOptions): LoopShares {
  const all = createBudget(share.ofAll, now)
  /** In the order of their turns. */
  const owners = new Map<string, Owner>()
  const underWay = new Set<Begun['piece']>()
  let measuredAt = activeMs()
  let scheduled = false

  /** Divides what was used since the last measurement. */
  function measure(): void {
    const active = activeMs()
    for (const piece of underWay) piece.costMs += (active - measuredAt) / underWay.size
    measuredAt = active
  }

  function ownerOf(name: string): Owner {
    const owner = owners.get(name) ?? {
      budget: createBudget(share.ofOne, now),
      waiting: createFifo<Waiting>(),
      pieces: 0,
      costMs: ASSUMED_COST_MS,
    }
    owners.set(name, owner)
    return owner
  }

  /** Drops those that have nothing to do and nothing to pay, so that only the others take memory. */
  function tidy(name: string, { pieces, budget }: Owner): void {
    if (pieces === 0 && budget.isFull()) owners.delete(name)
  }

  /** While the loop is busy, a piece that was begun long ago may still have work to do. */
  const idleMs = (): number => now() - activeMs()
  const isLate = ({ since }: Waiting): boolean => now() - since > maxWaitMs
  function mayBegin(owner: Owner): boolean {
    const leftMs = owner.budget.left()
    if (all.left() <= 0 || leftMs <= 0) return false
    const atOnce = leftMs < FEW_AT_ONCE_BELOW_MS ? FEW_AT_ONCE : MAX_AT_ONCE
    const busySince = idleMs() - WAITS_AFTER_IDLE_MS
    let busy = 0
    for (const piece of underWay) if (piece.owner === owner && piece.begunAtIdleMs > busySince) busy += 1
    return busy < atOnce
  }

  function serve(): void {
    let begun: boolean
    do {
      begun = false
      for (const [name, owner] of [...owners]) {
        for (let first = owner.waiting.peek(); first && isLate(first); first = owner.waiting.peek())
          owner.waiting.shift()?.giveUp()
        if (owner.waiting.size > 0 && mayBegin(owner)) {
          owner.waiting.shift()?.begin()
          begun = true
          // The others come first next time.
          owners.delete(name)
          owners.set(name, owner)
        } else tidy(name, owner)
      }
    } while (begun)
  }

  function schedule(): void {
    if (scheduled || owners.size === 0) return
    scheduled = true
    after(INTERVAL_MS, () => {
      scheduled = false
      serve()
      schedule()
    })
  }

  /** Pays beforehand what a piece is likely to cost: otherwise many would begin before the first has paid. */
  function begin(owner: Owner): Begun {
    measure()
    const { budget, costMs } = owner
    const piece = { owner, begunAtIdleMs: idleMs(), costMs: 0 }
    underWay.add(piece)
    for (const one of [all, budget]) one.pay(costMs)
    return { piece, paidMs: costMs }
  }

  function end(owner: Owner, { piece, paidMs }: Begun): void {
    measure()
    underWay.delete(piece)
    const costMs = Math.min(piece.costMs, MAX_COST_MS)
    for (const one of [all, owner.budget]) one.pay(costMs - paidMs)
    owner.costMs += (costMs - owner.costMs) * WEIGHT
  }

  /** One piece may always wait for its turn, however much it costs. */
  function isFull(name: string): boolean {
    const owner = owners.get(name)
    if (owner === undefined) return false
    if (owner.pieces >= maxPieces) return true
    const { waiting, costMs, budget } = owner
    return waiting.size > 0 && (waiting.size + 1) * costMs - budget.left() > maxWaitMs * share.ofOne
  }

  const waitForTurn = (owner: Owner): Promise<Begun> =>
    new Promise((resolve, reject) => {
      owner.waiting.push({
        since: now(),
        begin: () => resolve(begin(owner)),
        giveUp: () => reject(tooLate()),
      })
    })

  return {
    isFull,
    async run(name, work) {
      if (isFull(name)) throw tooLate()
      const owner = ownerOf(name)
      owner.pieces += 1
      schedule()
      try {
        const mustWait = owner.waiting.size > 0 || !mayBegin(owner)
        const begun = mustWait ? await waitForTurn(owner) : begin(owner)
        try {
          return await work()
        } finally {
          end(owner, begun)
          if (owner.waiting.size > 0) serve()
        }
      } finally {
        owner.pieces -= 1
      }
    },
  }
}

type Budget = ReturnType<typeof createBudget>

function createBudget(share: number, now: () => number) {
  let [savedMs, at] = [MAX_SAVED_MS, now()]
  function save(): void {
    const time = now()
    savedMs = Math.min(savedMs + (time - at) * share, MAX_SAVED_MS)
    at = time
  }
  return {
    left(): number {
      save()
      return savedMs
    },
    isFull(): boolean {
      save()
      return savedMs === MAX_SAVED_MS
    },
    pay(ms: number): void {
      savedMs -= ms
    },
  }
}

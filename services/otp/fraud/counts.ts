// What all processes know together of text messages: tallies of countries and ranges, and the numbers of a block.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { groupedDocs } from '../../../infra/store/grouped.ts'
import { BLOCK_MS, type Block, EMPTY_BLOCK, type Neighbour, sighted } from '../../../machines/fraud.block.ts'
import { EMPTY_TALLY, SLOT_MS, type Tally, type TallyNews, tallied } from '../../../machines/fraud.tally.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { type Folding, folding } from './folding.ts'

const DAY_MS = 86_400_000
/** Shares change over minutes, and a busy app sends to the same ranges all the time; a burst of neighbours is over within seconds. */
const TALLIES = { flushMs: 5_000, freshMs: 5_000, keepMs: 9 * DAY_MS }
const BLOCKS = { flushMs: 500, freshMs: 1_000, keepMs: 2 * BLOCK_MS }
const MOST_WAITING = 64

export interface FraudCounts {
  tallies: Folding<Tally, TallyNews>
  blocks: Folding<Block, Neighbour>
  settled(): Promise<void>
}

export interface CountParts {
  store: Pick<CountersignStore, 'docs'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

export function fraudCounts({ store, clock, log }: CountParts): FraudCounts {
  const tallies = folding<Tally, TallyNews>({
    ...{ docs: groupedDocs(store.docs('fraud_tallies')), clock, log, empty: EMPTY_TALLY, fold: tallied },
    gathered: addedUp,
    begins: news => news.some(({ sent }) => sent > 0),
    ...TALLIES,
  })
  const blocks = folding<Block, Neighbour>({
    ...{ docs: groupedDocs(store.docs('fraud_blocks')), clock, log, empty: EMPTY_BLOCK, fold: sighted },
    gathered: (waiting, number) =>
      waiting.length < MOST_WAITING
        ? [...waiting, number]
        : sighted({ numbers: [...waiting] }, [number], number.at).numbers,
    // One number is nobody's neighbour, and that somebody verified a lone one is not worth a document.
    begins: numbers => numbers.some(({ verified }) => !verified),
    ...BLOCKS,
  })
  return { tallies, blocks, settled: async () => void (await Promise.all([tallies.settled(), blocks.settled()])) }
}

/** All that began in the same five minutes is one. */
function addedUp(waiting: readonly TallyNews[], { at: moment, sent, verified }: TallyNews): TallyNews[] {
  const at = moment - (moment % SLOT_MS)
  const same = waiting.find(one => one.at === at)
  const sum = { at, sent: sent + (same?.sent ?? 0), verified: verified + (same?.verified ?? 0) }
  return [...waiting.filter(one => one !== same), sum]
}

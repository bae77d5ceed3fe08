// The fraud guard's counts, which all processes share: tallies of apps, countries, ranges, mail domains and networks of
// client addresses, the numbers of blocks, and the histories of numbers and mailboxes.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import { batchDocs } from '../../../infra/store/batched-docs.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import {
  addToHistory,
  EMPTY_HISTORY,
  NUMBER_WINDOW_MS,
  type NumberEntry,
  type NumberHistory,
} from '../../../machines/fraud.number.ts'
import {
  addToBlock,
  BLOCK_WINDOW_MS,
  type Block,
  type BlockNumber,
  EMPTY_BLOCK,
} from '../../../machines/fraud.number-block.ts'
import { addToTally, EMPTY_TALLY, SLOT_MS, type Tally, type TallyEntry } from '../../../machines/fraud.tally.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { SharedStateDoc } from '../../domain/fraud/documents.ts'
import { FRAUD_TALLY_RETENTION_MS } from '../../domain/retention.ts'
import { createSharedState, type SharedState, type SharedStateDeps } from './shared-state.ts'

/** Conversion changes over minutes, so tallies are written rarely. A burst of sends to neighbours takes seconds, so blocks are written
 *  and read again soon. */
const TALLIES = { flushMs: 5_000, freshMs: 5_000, keepMs: FRAUD_TALLY_RETENTION_MS }
const BLOCKS = { flushMs: 500, freshMs: 1_000, keepMs: 2 * BLOCK_WINDOW_MS }
/** A number may be sent to again at once, from another process. */
const HISTORIES = { flushMs: 500, freshMs: 1_000, keepMs: NUMBER_WINDOW_MS + HOUR_MS }
const NETWORKS = { ...BLOCKS, keepMs: 2 * HOUR_MS }
const MAX_WAITING_NUMBERS = 64

export interface FraudCounts {
  tallies: SharedState<Tally, TallyEntry>
  blocks: SharedState<Block, BlockNumber>
  histories: SharedState<NumberHistory, NumberEntry>
  networks: SharedState<Tally, TallyEntry>
  mailDomains: SharedState<Tally, TallyEntry>
  settled(): Promise<void>
}

export interface FraudCountDeps {
  store: Pick<CountersignStore, 'docs'>
  clock: Clock
  log: Pick<Logger, 'warn'>
  metrics?: Pick<Metrics, 'writtenBehind'>
}

export function createFraudCounts({ store, clock, log, metrics }: FraudCountDeps): FraudCounts {
  const shared = <State, Entry>(
    docs: Docs<SharedStateDoc<State>>,
    rules: Omit<SharedStateDeps<State, Entry>, 'docs' | 'clock' | 'log' | 'metrics'>,
  ): SharedState<State, Entry> => createSharedState({ docs: batchDocs(docs), clock, log, metrics, ...rules })
  const tally = {
    empty: EMPTY_TALLY,
    fold: addToTally,
    merge: mergeEntry,
    createsState: (entries: readonly TallyEntry[]) => entries.some(({ sent }) => sent > 0),
  }
  const states = {
    tallies: shared(store.docs('fraud_tallies'), { what: 'fraud tallies', ...tally, ...TALLIES }),
    networks: shared(store.docs('fraud_networks'), { what: 'fraud networks', ...tally, ...NETWORKS }),
    mailDomains: shared(store.docs('fraud_networks'), { what: 'fraud mail domains', ...tally, ...TALLIES }),
    blocks: shared(store.docs('fraud_blocks'), {
      what: 'fraud blocks',
      empty: EMPTY_BLOCK,
      fold: addToBlock,
      merge: (waiting, number) =>
        waiting.length < MAX_WAITING_NUMBERS
          ? [...waiting, number]
          : addToBlock({ numbers: [...waiting] }, [number], number.at).numbers,
      // A verified number alone is no sign of fraud, so it is not worth a document.
      createsState: numbers => numbers.some(({ verified }) => !verified),
      ...BLOCKS,
    }),
    histories: shared(store.docs('fraud_numbers'), {
      what: 'fraud histories',
      empty: EMPTY_HISTORY,
      fold: addToHistory,
      merge: (waiting, entry) => [...waiting, entry].slice(-MAX_WAITING_NUMBERS),
      createsState: entries => entries.some(({ what }) => what !== 'approval'),
      ...HISTORIES,
    }),
  }
  return {
    ...states,
    settled: async () => void (await Promise.all(Object.values(states).map(state => state.settled()))),
  }
}

/** Entries of the same slot are added up. */
function mergeEntry(waiting: readonly TallyEntry[], { at: moment, sent, verified }: TallyEntry): TallyEntry[] {
  const at = moment - (moment % SLOT_MS)
  const same = waiting.find(one => one.at === at)
  const sum = { at, sent: sent + (same?.sent ?? 0), verified: verified + (same?.verified ?? 0) }
  return [...waiting.filter(one => one !== same), sum]
}

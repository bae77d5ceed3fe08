// Address lists that are due: to be fetched again, or left by a process that died during an import. Also removes chunks that no list
// names, which only a crash leaves. Imports take long, so they run beside the other sweeps; the list's own document says which
// process imports it.
import type { Clock } from '../../infra/clock.ts'
import { createExclusiveChange } from '../../infra/exclusive-change.ts'
import { ulidTime } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { createUnderWay } from '../../infra/under-way.ts'
import { removeVersion } from '../domain/address-lists/chunks.ts'
import { type AddressListDoc, findAllLists } from '../domain/address-lists/documents.ts'
import { createRunImport, importLease, newVersion } from '../domain/address-lists/imports.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createFetchList } from './fetch-address-list.ts'
import { byOneProcess, type Sweep } from './sweep.ts'

export interface AddressListSweepDeps {
  store: CountersignStore
  outbound: Pick<Outbound, 'request'>
  clock: Clock
  log: Logger
}

/** Each import holds its text in memory. */
const MAX_IMPORTS_AT_ONCE = 3
const TIDY_EVERY_MS = 600_000
/** Far longer than an import takes: no list will ever name an older version that none names yet. */
const ABANDONED_AFTER_MS = 3_600_000

export function createAddressListSweeps({ store, outbound, clock, log }: AddressListSweepDeps) {
  const [lists, chunks] = [store.docs('ip_lists'), store.docs('ip_chunks')]
  const stopping = new AbortController()
  const changeExclusively = createExclusiveChange({ leases: store.docs('leases'), clock })
  const runImport = createRunImport({ store, clock, changeExclusively, log, signal: stopping.signal })
  const fetch = createFetchList({ outbound, clock })
  const running = createUnderWay()
  let nextTidyAt = 0

  async function startImport(list: AddressListDoc): Promise<void> {
    const { _id, due_at = 0, source, importing: interrupted } = list
    const version = newVersion(clock.now())
    const taken =
      source.kind === 'url'
        ? await lists.modify({ _id, due_at }, { $set: importLease(version, clock.now()) })
        : await lists.modify({ _id, due_at }, { $set: INTERRUPTED, $unset: { due_at: true } })
    if (taken === null) return
    if (interrupted !== null) await removeVersion(chunks, _id, interrupted.id)
    if (source.kind !== 'url') return log.warn({ list: _id, why: INTERRUPTED.problem }, 'ip_list.failed')
    running.add(runImport(taken, () => fetch(source, stopping.signal)))
  }

  const sweeps: Record<string, Sweep> = {
    ip_lists: byOneProcess(async () => {
      const free = MAX_IMPORTS_AT_ONCE - running.size()
      if (free === 0) return 0
      const due = await lists.find({ due_at: { $gt: 0, $lte: clock.now() } }, { sort: { due_at: 1 }, limit: free })
      for (const list of due) await startImport(list)
      return due.length
    }),

    /** Reads one chunk of each version, and skips the rest of the version. */
    ip_chunks: byOneProcess(async () => {
      if (clock.now() < nextTidyAt) return 0
      const before = clock.now() - ABANDONED_AFTER_MS
      const versionsInUse = new Set((await findAllLists(lists)).flatMap(versionsOf))
      let removed = 0
      for (let after = ''; ; ) {
        const [chunk] = await chunks.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: 1 })
        if (!chunk) break
        const [list = '', version = ''] = chunk._id.split('/')
        after = `${list}/${version}0`
        if (versionsInUse.has(`${list}/${version}`) || (ulidTime(version) ?? 0) > before) continue
        await removeVersion(chunks, list, version)
        removed += 1
      }
      nextTidyAt = clock.now() + TIDY_EVERY_MS
      return removed
    }),
  }
  return {
    sweeps,
    /** Imports under way are left as a crash would leave them. */
    async stop(): Promise<void> {
      stopping.abort(new Error('stopping'))
      await running.settled()
    },
  }
}

/** An uploaded text is lost with the process that was importing it. */
const INTERRUPTED = {
  status: 'failed',
  importing: null,
  problem: 'the import was cut short: put the list again',
} as const

const versionsOf = ({ _id, version, importing }: AddressListDoc): string[] =>
  [version, importing?.id].map(id => `${_id}/${id}`)

// Imports the content of a list. In: a list whose document holds this import's lease, and its content. Out: a new version, saved as
// chunks and then named in the list's document. Until it is named no process uses it, so that a crash leaves the version before.
// Every write requires that the document still holds the lease: of two imports of one list the later lease wins, and the earlier import
// removes its own chunks.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../infra/clock.ts'
import type { ExclusiveChange } from '../../../infra/exclusive-change.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Operators } from '../../../infra/store/docs.ts'
import { loadVersion, removeVersion, saveVersion } from './chunks.ts'
import {
  type AddressListDoc,
  type AddressListStore,
  type AddressShare,
  findAllLists,
  type ImportProgress,
  type ListSource,
} from './documents.ts'
import { type AddressSet, intervalCount } from './intervals.ts'
import { type ParseCounts, type ParsedList, parseList, TooManyRanges } from './list-parser.ts'
import { holdMostWithStored, shareOf } from './most-addresses.ts'

export interface ImportDeps {
  store: AddressListStore
  clock: Clock
  /** The lock of LISTS_CHANGE. */
  changeExclusively: ExclusiveChange
  log: Pick<Logger, 'info' | 'warn'>
  /** Ends a running import as a crash would. */
  signal?: AbortSignal
}

/** The name of changes that may let a class hold more: each is checked with the lists that the one before has left. */
export const LISTS_CHANGE = 'ip-lists'

export const MAX_LIST_BYTES = 32 * 1024 * 1024
/** Longer than a fetch may take. */
export const IMPORT_LEASE_MS = 120_000
/** A failed import of a URL with a refresh interval is repeated after this time, or after the interval if that is shorter. */
const IMPORT_RETRY_MS = 300_000
/** How often a running import saves its progress and renews its lease. */
const PROGRESS_INTERVAL_MS = 500

/** The content cannot be imported. The message is shown to operators as the list's `problem`. */
export class BadList extends Error {
  override name = 'BadList'
}

/** Another import of the list has the lease now. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** The fields of a list's document that give the lease to the import with this id. `share`: as in ImportProgress. */
export const importLease = (id: string, now: number, share: AddressShare | null = null) => ({
  status: 'importing' as const,
  importing: { id, lines: 0, bytes: 0, total_bytes: null, ...(share && { share }) } satisfies ImportProgress,
  due_at: now + IMPORT_LEASE_MS,
})

export const newVersion = (now: number): string => newId('ipv', now)

/** `unchanged`: the source still has the content of the current version. */
export type ListContent = { bytes: Uint8Array; source: ListSource } | 'unchanged'

/** In: a list with a new lease, and a function that gets its content. Never rejects: a failure is saved in the list's document, or the
 *  sweeper repeats the import once the lease has ended. */
export type RunImport = (list: AddressListDoc, getContent: () => Promise<ListContent>) => Promise<void>

export function createRunImport({ store, clock, changeExclusively, log, signal }: ImportDeps): RunImport {
  const [lists, chunks] = [store.docs('ip_lists'), store.docs('ip_chunks')]

  /** Throws LeaseLost unless this import has the lease. */
  async function write({ _id, importing }: AddressListDoc, update: Operators<AddressListDoc>): Promise<AddressListDoc> {
    const written = await lists.modify({ _id, 'importing.id': importing?.id ?? '' }, update)
    if (written === null) throw new LeaseLost(_id)
    return written
  }

  /** Also renews the lease. */
  const saveProgress = (
    list: AddressListDoc,
    progressFields: Partial<ImportProgress> = {},
  ): Promise<AddressListDoc> => {
    const fields = Object.entries(progressFields).map(([name, value]) => [`importing.${name}`, value])
    return write(list, { $set: { ...Object.fromEntries(fields), due_at: clock.now() + IMPORT_LEASE_MS } })
  }

  /** Ends the lease. The sweeper comes back after `dueInMs`, or never when that is null. */
  const finish = (
    list: AddressListDoc,
    listFields: Partial<AddressListDoc>,
    dueInMs: number | null,
  ): Promise<AddressListDoc> => {
    const $set = { ...listFields, importing: null }
    const due_at = clock.now() + (dueInMs ?? 0)
    return write(list, dueInMs === null ? { $set, $unset: { due_at: true } } : { $set: { ...$set, due_at } })
  }

  async function parse(list: AddressListDoc, bytes: Uint8Array): Promise<ParsedList> {
    if (bytes.length > MAX_LIST_BYTES) throw new BadList(`it has more than ${MAX_LIST_BYTES} bytes`)
    await saveProgress(list, { total_bytes: bytes.length })
    let savedAt = clock.now()
    const parsed = await parseList(bytes, async progress => {
      // Parsing is synchronous: other work of the process runs between its batches.
      await nextTurn()
      signal?.throwIfAborted()
      if (clock.now() - savedAt < PROGRESS_INTERVAL_MS) return
      savedAt = clock.now()
      await saveProgress(list, progress)
    })
    if (isMostlyBad(parsed))
      throw new BadList(`most of its lines are no addresses or ranges, beginning with line ${parsed.bad_lines[0]}`)
    return parsed
  }

  async function replace(list: AddressListDoc, { bytes, source }: Exclude<ListContent, 'unchanged'>): Promise<void> {
    const { set, ...counts } = await parse(list, bytes)
    if (source.kind === 'url') refuseEmpty(set)
    const version = list.importing?.id ?? ''
    const saved = await saveVersion(
      chunks,
      { list: list._id, version, set },
      async () => void (await saveProgress(list)),
    )
    const fields = {
      version,
      chunks: saved,
      counts,
      share: shareOf(set),
      source,
      status: 'ready',
      problem: null,
    } as const
    const name = () => finish(list, { ...fields, refreshed_at: clock.now() }, untilRefresh(list))
    // A given text was checked before it was accepted.
    if (source.kind !== 'url') await name()
    else
      await changeExclusively(LISTS_CHANGE, async renewLease => {
        await refuseMostAddresses(list, set, renewLease)
        await renewLease()
        await name()
      })
    const { ranges, ignored, bad } = counts
    log.info({ list: list._id, version, ranges, ignored, bad }, 'ip_list.imported')
  }

  /** Content that is fetched by schedule is not reviewed by a person: a single `0.0.0.0/0` would refuse every client. */
  async function refuseMostAddresses(
    list: AddressListDoc,
    set: AddressSet,
    renewLease: () => Promise<void>,
  ): Promise<void> {
    const others = (await findAllLists(lists)).filter(one => one.class === list.class && one._id !== list._id)
    const load = async (other: AddressListDoc) => {
      await renewLease()
      await saveProgress(list)
      return loadVersion(chunks, other)
    }
    if (await holdMostWithStored([set], others, load))
      throw new BadList(
        'it holds more than half of all addresses, alone or with the others of its class, which cannot be meant',
      )
  }

  async function importContent(list: AddressListDoc, getContent: () => Promise<ListContent>): Promise<void> {
    // Only the import with the lease can change the current version, so `before` stays true until this import ends.
    const { version: before } = await saveProgress(list)
    const content = await getContent()
    if (content !== 'unchanged') {
      await replace(list, content)
      if (before !== null) await removeVersion(chunks, list._id, before)
      return
    }
    await finish(list, { refreshed_at: clock.now(), status: 'ready', problem: null }, untilRefresh(list))
    log.info({ list: list._id, version: before }, 'ip_list.unchanged')
  }

  async function fail(list: AddressListDoc, problem: string): Promise<void> {
    log.warn({ list: list._id, why: problem }, 'ip_list.failed')
    const refresh = untilRefresh(list)
    await finish(list, { status: 'failed', problem }, refresh === null ? null : Math.min(refresh, IMPORT_RETRY_MS))
  }

  return async (list, getContent) => {
    try {
      await importContent(list, getContent).catch(async error => {
        const why = reasonOf(error)
        if (why === null) throw error
        await fail(list, why)
        await removeVersion(chunks, list._id, list.importing?.id ?? '')
      })
    } catch (error) {
      if (!(error instanceof LeaseLost)) log.warn({ list: list._id, err: error }, 'ip_list.interrupted')
      // The import that has the lease now does not know these chunks.
      else await removeVersion(chunks, list._id, list.importing?.id ?? '').catch(() => {})
    }
  }
}

/** More bad lines than others: probably not a list at all. */
export const isMostlyBad = ({ bad, entries }: ParseCounts): boolean => bad * 2 > entries

/** A source under maintenance may serve an empty page. */
function refuseEmpty({ v4, v6 }: AddressSet): void {
  if (intervalCount(v4) + intervalCount(v6) === 0) throw new BadList('there are no public addresses in it')
}

const untilRefresh = ({ refresh_seconds }: AddressListDoc): number | null =>
  refresh_seconds === null ? null : refresh_seconds * 1_000

/** The problem as operators read it; null for an error that is not the list's fault. */
const reasonOf = (error: unknown): string | null =>
  error instanceof BadList || error instanceof TooManyRanges ? error.message : null

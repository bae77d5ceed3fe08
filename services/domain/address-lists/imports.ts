// An import: whoever claimed it on a list's document has the text read, saved as a version of its own, and then named there. Until it
// is named nobody sees it, so that a crash anywhere leaves the version before. Every write asks whether the claim still holds: of two
// imports of one list the later claim wins, and the earlier one cleans up after itself.
import { setImmediate } from 'node:timers'
import type { Clock } from '../../../infra/clock.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Operators } from '../../../infra/store/docs.ts'
import { removeVersion, saveVersion } from './chunks.ts'
import type { AddressListStore, ImportProgress, IpListDoc, ListSource } from './documents.ts'
import { intervalCount } from './intervals.ts'
import { type AddressSet, type ParsedList, parseList, TooManyRanges } from './list-parser.ts'
import { shareOfAddressSpace } from './reserved.ts'

export interface ImportDeps {
  store: AddressListStore
  clock: Clock
  log: Pick<Logger, 'info' | 'warn'>
  /** Ends what is under way, as a crash would. */
  signal?: AbortSignal
}

/** The text of a list may have this many bytes, wherever it comes from. */
export const MAX_LIST_BYTES = 32 * 1024 * 1024
/** An import that shows no life for this long is taken for dead. Longer than fetching may take. */
export const IMPORT_LEASE_MS = 120_000
/** One that failed is tried again after this, or when it is due anyway. */
const IMPORT_RETRY_MS = 300_000
/** How often it shows how far it is. */
const PROGRESS_INTERVAL_MS = 500
const MAX_SHARE_OF_ADDRESSES = 0.5

/** The list cannot be taken as it is. The message is for people. */
export class BadList extends Error {
  override name = 'BadList'
}
/** The claim is another's now. */
class LeaseLost extends Error {
  override name = 'Superseded'
}

/** What a list's document says from now on: it is claimed by the import of that id. */
export const importLease = (id: string, now: number) => ({
  status: 'importing' as const,
  importing: { id, lines: 0, bytes: 0, total_bytes: null } satisfies ImportProgress,
  due_at: now + IMPORT_LEASE_MS,
})

export const newVersion = (now: number): string => newId('ipv', now)

/** `unchanged`: the version that counts is still what the source says. */
export type ListContent = { bytes: Uint8Array; source: ListSource } | 'unchanged'

/** In: a list as it was just claimed, and a way to its text. It never rejects: whatever happens is on the list's document, or will be
 *  seen to by the sweeper once the claim lapses. */
export type RunImport = (list: IpListDoc, getContent: () => Promise<ListContent>) => Promise<void>

export function createRunImport({ store, clock, log, signal }: ImportDeps): RunImport {
  const [lists, chunks] = [store.docs('ip_lists'), store.docs('ip_chunks')]

  /** While the claim is ours. */
  async function write({ _id, importing }: IpListDoc, update: Operators<IpListDoc>): Promise<IpListDoc> {
    const written = await lists.modify({ _id, 'importing.id': importing?.id ?? '' }, update)
    if (written === null) throw new LeaseLost(_id)
    return written
  }

  /** That it lives, and how far it is; the list as it is now. */
  const saveProgress = (list: IpListDoc, progressFields: Partial<ImportProgress> = {}): Promise<IpListDoc> => {
    const fields = Object.entries(progressFields).map(([name, value]) => [`importing.${name}`, value])
    return write(list, { $set: { ...Object.fromEntries(fields), due_at: clock.now() + IMPORT_LEASE_MS } })
  }

  /** It is over: nobody has anything to do until `dueInMs` from now, or ever. */
  const finish = (list: IpListDoc, listFields: Partial<IpListDoc>, dueInMs: number | null): Promise<IpListDoc> => {
    const $set = { ...listFields, importing: null }
    const due_at = clock.now() + (dueInMs ?? 0)
    return write(list, dueInMs === null ? { $set, $unset: { due_at: true } } : { $set: { ...$set, due_at } })
  }

  async function read(list: IpListDoc, bytes: Uint8Array): Promise<ParsedList> {
    if (bytes.length > MAX_LIST_BYTES) throw new BadList(`it has more than ${MAX_LIST_BYTES} bytes`)
    await saveProgress(list, { total_bytes: bytes.length })
    let savedAt = clock.now()
    const answer = await parseList(bytes, async progress => {
      await yieldToEventLoop()
      signal?.throwIfAborted()
      if (clock.now() - savedAt < PROGRESS_INTERVAL_MS) return
      savedAt = clock.now()
      await saveProgress(list, progress)
    })
    if (answer.bad * 2 > answer.entries)
      throw new BadList(`most of its lines are no addresses or ranges, beginning with line ${answer.bad_lines[0]}`)
    return answer
  }

  async function replace(list: IpListDoc, { bytes, source }: Exclude<ListContent, 'unchanged'>): Promise<void> {
    const { set, ...counts } = await read(list, bytes)
    if (source.kind === 'url') refuseImplausible(set)
    const version = list.importing?.id ?? ''
    const saved = await saveVersion(
      chunks,
      { list: list._id, version, set },
      async () => void (await saveProgress(list)),
    )
    const now = clock.now()
    await finish(
      list,
      { version, chunks: saved, counts, source, refreshed_at: now, status: 'ready', problem: null },
      untilRefresh(list),
    )
    const { ranges, ignored, bad } = counts
    log.info({ list: list._id, version, ranges, ignored, bad }, 'ip_list.imported')
  }

  async function importContent(list: IpListDoc, getContent: () => Promise<ListContent>): Promise<void> {
    // From here on only this import could name another.
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

  async function fail(list: IpListDoc, problem: string): Promise<void> {
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
      const superseded = error instanceof LeaseLost
      if (!superseded) log.warn({ list: list._id, err: error }, 'ip_list.interrupted')
      // Whoever has the claim now knows nothing of these.
      else await removeVersion(chunks, list._id, list.importing?.id ?? '').catch(() => {})
    }
  }
}

/** Nobody looks at what comes from an address by schedule. A page of a source that is being repaired is empty; one stray `0.0.0.0/0`
 *  would shut everybody out. */
function refuseImplausible({ v4, v6 }: AddressSet): void {
  if (intervalCount(v4) + intervalCount(v6) === 0) throw new BadList('there are no public addresses in it')
  if ([v4, v6].some(set => shareOfAddressSpace(set) > MAX_SHARE_OF_ADDRESSES))
    throw new BadList('it holds more than half of all addresses, which cannot be meant')
}

const untilRefresh = ({ refresh_seconds }: IpListDoc): number | null =>
  refresh_seconds === null ? null : refresh_seconds * 1_000

/** What people are told of it; null for what is no fault of the list's. */
const reasonOf = (error: unknown): string | null =>
  error instanceof BadList || error instanceof TooManyRanges ? error.message : null

/** Others have work to do as well. */
const yieldToEventLoop = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))

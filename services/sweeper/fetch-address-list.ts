// Fetches the text of an address list. In: its URL and the ETag of the last answer. Out: the text, or that it has not changed. Every
// failure is a `BadList`: the former version of the list stays in use.
import type { Clock } from '../../infra/clock.ts'
import type { Outbound, OutboundResponse } from '../../infra/outbound/outbound.ts'
import type { ListSource } from '../domain/address-lists/documents.ts'
import { BadList, type ListContent, MAX_LIST_BYTES } from '../domain/address-lists/imports.ts'

type UrlSource = Extract<ListSource, { kind: 'url' }>

export interface FetchListDeps {
  outbound: Pick<Outbound, 'request'>
  clock: Pick<Clock, 'after'>
}

const FETCH_TIMEOUT_MS = 60_000

export type FetchList = (source: UrlSource, signal: AbortSignal) => Promise<ListContent>

export const createFetchList =
  ({ outbound, clock }: FetchListDeps): FetchList =>
  async (source, stopping) => {
    const late = new AbortController()
    const cancel = clock.after(FETCH_TIMEOUT_MS, () =>
      late.abort(new Error(`no answer within ${FETCH_TIMEOUT_MS / 1_000} s`)),
    )
    const signal = AbortSignal.any([late.signal, stopping])
    try {
      const headers = { accept: 'text/plain, */*', ...(source.etag === null ? {} : { 'if-none-match': source.etag }) }
      const request = { method: 'GET', url: source.url, headers, signal, maxBytes: MAX_LIST_BYTES + 1 } as const
      return contentOf(source, await outbound.request(request))
    } catch (error) {
      // This process is stopping; the next one imports the list.
      if (stopping.aborted || error instanceof BadList) throw error
      throw new BadList(error instanceof Error ? error.message : 'it could not be asked', { cause: error })
    } finally {
      cancel()
    }
  }

function contentOf(source: UrlSource, { status, headers, body }: OutboundResponse): ListContent {
  if (status === 304 && source.etag !== null) return 'unchanged'
  if (status !== 200) throw new BadList(`its source answered ${status}`)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw new BadList('its source compressed it, unasked')
  const announced = Number(headers['content-length'] ?? body.length)
  if (body.length <= MAX_LIST_BYTES && announced !== body.length) throw new BadList('it ended before it was complete')
  return { bytes: body, source: { ...source, etag: etagOf(headers) } }
}

/** Only an ETag that may be sent back in a header. */
function etagOf({ etag = '' }: Readonly<Record<string, string>>): string | null {
  return /^(W\/)?"[\x21\x23-\x7e]{0,200}"$/.test(etag) ? etag : null
}

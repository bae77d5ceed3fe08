// A list of addresses as an operator sees it, and as the audit log records it.
import type { IpListDoc, ListSource } from '../../domain/address-lists/documents.ts'
import { isoTimeOrNull } from '../admin-deps.ts'

export function listView(list: IpListDoc) {
  const { class: of, name, source, refresh_seconds, version, counts, refreshed_at, status, problem, importing } = list
  const { ranges = 0, ignored = 0, bad = 0, bad_lines = [] } = counts ?? {}
  return {
    class: of,
    name,
    source: sourceView(source),
    refresh_seconds,
    version,
    ranges,
    ignored,
    bad,
    bad_lines,
    refreshed_at: isoTimeOrNull(refreshed_at),
    status,
    /** Of an import that is under way. `total_bytes` is null until its source has answered. */
    progress: importing && { lines: importing.lines, bytes: importing.bytes, total_bytes: importing.total_bytes },
    problem,
  }
}

export const listAuditFields = ({ class: of, name, source, refresh_seconds, version }: IpListDoc) => ({
  class: of,
  name,
  source: sourceView(source),
  refresh_seconds,
  version,
})

/** Subscribers' keys stand in the query of an address. */
function sourceView(source: ListSource) {
  if (source.kind !== 'url') return { kind: source.kind }
  const { origin, pathname, search } = new URL(source.url)
  return { kind: source.kind, url: `${origin}${pathname}${search === '' ? '' : '?…'}` }
}

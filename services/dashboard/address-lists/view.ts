// An address list as the admin API and the audit log show it.

import { isoTimeOrNull } from '../../../infra/iso-time.ts'
import type { AddressListDoc, ListSource } from '../../domain/address-lists/documents.ts'
import type { AddressListAnswer } from './schemas.ts'

export function listView(list: AddressListDoc): AddressListAnswer {
  const {
    class: addressClass,
    name,
    source,
    refresh_seconds,
    version,
    counts,
    refreshed_at,
    status,
    problem,
    importing,
  } = list
  const { ranges = 0, ignored = 0, bad = 0, bad_lines = [] } = counts ?? {}
  return {
    class: addressClass,
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
    /** Null unless an import is running. `total_bytes` is null until the content was fetched. */
    progress: importing && { lines: importing.lines, bytes: importing.bytes, total_bytes: importing.total_bytes },
    problem,
  }
}

export const listAuditFields = ({ class: addressClass, name, source, refresh_seconds, version }: AddressListDoc) => ({
  class: addressClass,
  name,
  source: sourceView(source),
  refresh_seconds,
  version,
})

/** The query of a URL may hold a subscriber's key, and is not shown. */
function sourceView(source: ListSource) {
  if (source.kind !== 'url') return { kind: source.kind }
  const { origin, pathname, search } = new URL(source.url)
  return { kind: source.kind, url: `${origin}${pathname}${search === '' ? '' : '?…'}` }
}

// The body of PUT /ip-lists, which replaces all lists. In: the lists as they are, and one that is added, replaced or
// removed. Out: the body: a list that is named without content stays as it is. Pure.
import type { Schemas } from '../../api/schema.ts'

export type AddressList = Schemas['AddressList']
export type AddressClass = Schemas['AddressClass']
export type AddressListInput = Schemas['AddressListInput']

type ListName = Pick<AddressList, 'class' | 'name'>

export const CLASS_WORDS: Readonly<Record<AddressClass, { name: string; meaning: string }>> = {
  abusive: { name: 'Abusive', meaning: 'Sends from these addresses are refused.' },
  vpn: { name: 'VPN', meaning: 'These addresses have a lower limit.' },
  proxy: { name: 'Proxy', meaning: 'These addresses have a lower limit.' },
  tor: { name: 'Tor', meaning: 'These addresses have a lower limit.' },
  datacenter: { name: 'Datacenter', meaning: 'These addresses have a lower limit.' },
}

/** As the API: at most so many bytes of text. */
export const MAX_LIST_BYTES = 32 * 1024 * 1024

const isSame = (one: ListName, other: ListName): boolean => one.class === other.class && one.name === other.name

/** Those of the bootstrap file are not the API's to change. */
const named = (lists: readonly AddressList[]): ListName[] =>
  lists
    .filter(({ source }) => source.kind !== 'bootstrap')
    .map(({ class: addressClass, name }) => ({ class: addressClass, name }))

/** The new list stands last: refusals of it have the path `lists.<number of the others>`. */
export function withList(lists: readonly AddressList[], input: AddressListInput & ListName) {
  const others = named(lists).filter(list => !isSame(list, input))
  return { body: { lists: [...others, input] }, path: `lists.${others.length}` }
}

export const withoutList = (lists: readonly AddressList[], removed: ListName) => ({
  lists: named(lists).filter(list => !isSame(list, removed)),
})

/** From 0 to 1; null while it is not known how much there is. */
export const progressOf = ({ progress }: Pick<AddressList, 'progress'>): number | null =>
  progress === null || !progress.total_bytes ? null : Math.min(1, progress.bytes / progress.total_bytes)

/** Whether an import is under way or about to begin. */
export const isUnderWay = ({ status }: Pick<AddressList, 'status'>): boolean =>
  status === 'importing' || status === 'waiting'

/** "8,912 ranges; 3 private ones left out; 2 bad lines left out (12, 40)" */
export function contentWords({ version, ranges, ignored, bad, bad_lines }: AddressList): string {
  if (version === null) return 'nothing yet'
  const parts = [`${ranges.toLocaleString('en')} ${ranges === 1 ? 'range' : 'ranges'}`]
  if (ignored > 0) parts.push(`${ignored.toLocaleString('en')} private or reserved left out`)
  if (bad > 0) {
    const more = bad > bad_lines.length ? ', …' : ''
    parts.push(
      `${bad.toLocaleString('en')} bad ${bad === 1 ? 'line' : 'lines'} left out (${bad_lines.join(', ')}${more})`,
    )
  }
  return parts.join('; ')
}

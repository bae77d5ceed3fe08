// What the lists of verifications and refusals are searched for. In: the query of the page's address, which can be shared. Out: the search,
// and the address of a search. Times are in UTC in the address, and in the viewer's zone in fields (see data/local-field.ts). Pure.
import { CHANNELS, type Channel } from '../../../../../machines/channels.ts'
import { isCountry } from '../../../../../machines/countries.ts'
import { VERIFICATIONS_PATH } from '../../../screens.ts'
import type { Schemas } from '../../api/schema.ts'
import { fromLocalField } from '../../data/local-field.ts'
import { isRefusalType, type RefusalType } from './refusal-words.ts'

export type Status = Schemas['RecordStatus']

export type Mode = Schemas['Mode']
export type Delivery = Schemas['DeliveryStatus']

export type Tab = 'verifications' | 'refusals'

/** An empty text is no filter. */
export interface Search {
  tab: Tab
  recipient: string
  allApps: boolean
  status: Status | ''
  channel: Channel | ''
  country: string
  mode: Mode | ''
  /** The state of the latest message. */
  delivery: Delivery | ''
  /** `<name>=<value>`. */
  metadata: string
  type: RefusalType | ''
  /** ISO 8601, UTC. */
  since: string
  until: string
}

export const STATUSES: readonly Status[] = ['pending', 'approved', 'delivered', 'failed', 'expired', 'canceled']

export const MODES: readonly Mode[] = ['live', 'test']
export const DELIVERIES: readonly Delivery[] = ['queued', 'sent', 'delivered', 'failed']

export const EMPTY_SEARCH: Search = {
  tab: 'verifications',
  recipient: '',
  allApps: false,
  status: '',
  channel: '',
  country: '',
  mode: '',
  delivery: '',
  metadata: '',
  type: '',
  since: '',
  until: '',
}

/** A value that the API would refuse is left out. */
export function readSearch(query: Readonly<Record<string, string | undefined>>): Search {
  const { status = '', channel = '', country = '', type = '' } = query
  return {
    tab: query.tab === 'refusals' ? 'refusals' : 'verifications',
    recipient: (query.recipient ?? '').trim(),
    allApps: query.apps === 'all',
    status: STATUSES.find(one => one === status) ?? '',
    channel: CHANNELS.find(one => one === channel) ?? '',
    country: isCountry(country.toUpperCase()) ? country.toUpperCase() : '',
    mode: MODES.find(one => one === query.mode) ?? '',
    delivery: DELIVERIES.find(one => one === query.delivery) ?? '',
    metadata: metadataQuery(query.metadata ?? '') ? (query.metadata ?? '') : '',
    type: isRefusalType(type) ? type : '',
    since: fromLocalField(query.since ?? ''),
    until: fromLocalField(query.until ?? ''),
  }
}

/** Each list has its own filters in its address. */
export function addressOf(search: Search): string {
  const { tab, recipient, allApps, status, channel, country, mode, delivery, metadata, type, since, until } = search
  const isRefusals = tab === 'refusals'
  const query = new URLSearchParams()
  const add = (name: string, value: string): void => {
    if (value !== '') query.set(name, value)
  }
  add('tab', isRefusals ? tab : '')
  add('recipient', recipient.trim())
  add('apps', allApps ? 'all' : '')
  add('status', isRefusals ? '' : status)
  add('channel', isRefusals ? '' : channel)
  add('country', isRefusals ? '' : country)
  add('mode', isRefusals ? '' : mode)
  add('delivery', isRefusals ? '' : delivery)
  add('metadata', isRefusals ? '' : metadata)
  add('type', isRefusals ? type : '')
  add('since', since)
  add('until', until)
  const text = query.toString()
  return text === '' ? VERIFICATIONS_PATH : `${VERIFICATIONS_PATH}?${text}`
}

/** The query of the API for `<name>=<value>`; null for any other text. */
export function metadataQuery(text: string): Record<string, string> | null {
  const [, name, value] = /^\s*([A-Za-z0-9_.-]{1,40})=(.*)$/.exec(text) ?? []
  return name === undefined || value === undefined ? null : { [`metadata.${name}`]: value }
}

/** The id of a verification or a message in what was typed; null for a recipient. */
export const otpIdIn = (text: string): string | null => /^(otp|msg)_[0-9A-Za-z]+$/.exec(text.trim())?.[0] ?? null

/** Whether anything but the choice of apps narrows the list. */
export const isFiltered = (search: Search): boolean =>
  addressOf({ ...search, allApps: false }) !== addressOf({ ...EMPTY_SEARCH, tab: search.tab })

// The filters of lists of verifications. In: a query, and the apps that its caller may see. Out: which documents a page
// reads, and which of them it shows. An index serves the recipient, the metadata, the app and the time. The rest is
// tested on the documents: an index more would cost every send, and the status changes with the clock alone.
import { z } from 'zod'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { firstIdAt, withPrefix } from '../../../infra/ids.ts'
import type { Filter } from '../../../infra/store/docs.ts'
import { statusAt } from '../../../machines/otp.code-life.ts'
import { MODES } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { deliveryStatus, keyMode, savedStatus } from '../../domain/openapi/shared-schemas.ts'
import { channel, country } from '../../domain/tenancy/value-schemas.ts'
import { MAX_AGE_OF_TAKEN_OVER_ID_MS } from '../../domain/verifications/claim-holds.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { otpById } from '../../domain/verifications/joined-ids.ts'
import { metadataIndexes, recipientIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { metadataOf, otpIdOfMetadataIndex } from '../../domain/verifications/metadata.ts'
import { lookupForm } from '../../domain/verifications/valid-recipient.ts'
import { type AdminRequest, mayAccessCompany } from '../access.ts'
import { filtersByIndex, recipientFilters, visibleAppIds, visibleFilters } from '../many-apps.ts'
import { type IdRange, type MergedQuery, mergeByTime, readNewestFirst } from '../newest-first.ts'
import type { FilteredListing } from '../pages.ts'
import { recipientQuery } from '../recipients.ts'
import { getOr404 } from '../request-input.ts'
import { timeQuery } from '../time-query.ts'
import type { MetadataFilter } from './metadata-query.ts'

export const searchFields = {
  recipient: recipientQuery,
  otp_id: z.string().optional().meta({ description: 'Only this verification or message.' }),
  status: savedStatus.optional().meta({ description: 'Only verifications in this state now.' }),
  channel: channel.optional().meta({ description: 'Only verifications on this channel.' }),
  country: country.optional().meta({ description: 'Only numbers of this country, an ISO 3166-1 alpha-2 code.' }),
  mode: keyMode.optional().meta({ description: 'Only verifications of this mode.' }),
  delivery: deliveryStatus
    .optional()
    .meta({ description: 'Only verifications whose latest message is in this state.' }),
  since: timeQuery('Only those created at this time or later.'),
  until: timeQuery('Only those created before this time.'),
}

export type Search = Partial<z.output<z.ZodObject<typeof searchFields>>> & {
  app_id?: string | undefined
  metadata?: MetadataFilter | undefined
}

export interface SearchDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'indexes' | 'unseal'>
  clock: Pick<Clock, 'now'>
}

/** The edge makes the id of a verification, and the OTP actor a moment later the verification, perhaps by another clock. */
const ID_SLACK_MS = 10_000

export function createSearch({ store, keyring, clock }: SearchDeps) {
  const docs = store.docs('otps')

  /** 404 for an app that the caller may not see. */
  async function filtersOf(request: AdminRequest, { app_id, recipient }: Search): Promise<Filter<OtpDoc>[]> {
    if (app_id !== undefined) await getOr404(request, store.docs('apps'), app_id, 'app')
    if (recipient !== undefined) {
      const appIds = app_id === undefined ? visibleAppIds(store, request) : [app_id]
      return recipientFilters({ docs, keyring, appIds, recipient: lookupForm(recipient) })
    }
    return app_id === undefined ? visibleFilters(store, request) : [{ app_id }]
  }

  /** Those with one value of metadata, through the index documents of it. */
  async function* readByMetadata(
    request: AdminRequest,
    { app_id, metadata: { name, value } }: Search & { metadata: MetadataFilter },
    range: IdRange,
    wanted: number,
  ): AsyncGenerator<OtpDoc> {
    const indexDocs = store.docs('metadata_indexes')
    const filters = await filtersByIndex({
      docs: indexDocs,
      field: 'index',
      appIds: app_id === undefined ? visibleAppIds(store, request) : [app_id],
      indexesIn: app_id => MODES.flatMap(mode => metadataIndexes(keyring, { app_id, mode }, name, value)),
    })
    let waiting = new Set<string>()
    const readWaiting = async (): Promise<OtpDoc[]> => {
      const ids = [...waiting]
      waiting = new Set()
      const found = await docs.get(ids)
      return ids.flatMap(id => found.get(id) ?? [])
    }
    for await (const indexDoc of readNewestFirst({ docs: indexDocs, filters, range, wanted })) {
      waiting.add(otpIdOfMetadataIndex(indexDoc))
      if (waiting.size === wanted) yield* await readWaiting()
    }
    yield* await readWaiting()
  }

  /** No index serves an id and a recipient, so the recipient of the one document is compared. */
  async function* readOne(otp_id: string, { app_id, recipient }: Search): AsyncGenerator<OtpDoc> {
    const doc = await otpById({ otps: docs, joinedIds: store.docs('joined_ids') }, otp_id)
    if (!doc || (app_id !== undefined && doc.app_id !== app_id)) return
    const isOfRecipient =
      recipient === undefined || recipientIndexes(keyring, doc, lookupForm(recipient)).includes(doc.recipient)
    if (isOfRecipient) yield doc
  }

  return async (request: AdminRequest, search: Search): Promise<Omit<FilteredListing<OtpDoc, unknown>, 'show'>> => {
    const { otp_id, status, channel, country, mode, delivery, recipient, metadata } = search
    const filters = await filtersOf(request, otp_id === undefined ? search : { app_id: search.app_id })
    const { from, before } = idRange(search)
    const now = clock.now()
    const read = (range: IdRange, wanted: number): AsyncGenerator<OtpDoc> => {
      if (otp_id !== undefined) return readOne(otp_id, search)
      if (metadata !== undefined && recipient === undefined)
        return readByMetadata(request, { ...search, metadata }, range, wanted)
      return readNewestOtps({ docs, filters, range, wanted })
    }
    const hasMetadata = (doc: OtpDoc): boolean => {
      if (metadata === undefined) return true
      const own = metadataOf(keyring, doc) ?? {}
      return Object.hasOwn(own, metadata.name) && own[metadata.name] === metadata.value
    }
    return {
      newestFirst: (cursor, wanted) => read({ from, before: cursor ?? before }, wanted),
      selective: [status, channel, country, mode, delivery, metadata].some(value => value !== undefined),
      matches: doc => mayAccessCompany(request, doc.company_id) && matchesSearch(doc, search, now) && hasMetadata(doc),
    }
  }
}

/** The ids of verifications and those of messages are two ranges, each in the order of time. */
export const readNewestOtps = (query: MergedQuery<OtpDoc>): AsyncGenerator<OtpDoc> =>
  mergeByTime(
    (['otp', 'msg'] as const).map(prefix => readNewestFirst({ ...query, range: rangeOf(prefix, query.range) })),
  )

const rangeOf = (prefix: 'otp' | 'msg', { from, before }: IdRange): IdRange => ({
  from: from === undefined ? `${prefix}_` : withPrefix(prefix, from),
  before: before === undefined ? `${prefix}~` : withPrefix(prefix, before),
})

const idRange = ({ since, until }: Search): IdRange => ({
  from: since === undefined ? undefined : firstIdAt('otp', since - MAX_AGE_OF_TAKEN_OVER_ID_MS - ID_SLACK_MS),
  before: until === undefined ? undefined : firstIdAt('otp', until + ID_SLACK_MS),
})

function matchesSearch(doc: OtpDoc, search: Search, now: number): boolean {
  const { status, channel, country, mode, delivery, since, until } = search
  const { value, context: otp } = toCurrentVersion(doc)
  return (
    (since === undefined || doc.created_at >= since) &&
    (until === undefined || doc.created_at < until) &&
    (status === undefined || statusAt(value, otp, now) === status) &&
    (channel === undefined || otp.channel === channel) &&
    (mode === undefined || doc.mode === mode) &&
    (delivery === undefined || otp.deliveries.at(-1)?.status === delivery) &&
    (country === undefined || otp.recipient.country === country)
  )
}

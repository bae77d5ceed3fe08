// Reseals one batch of a collection with the current data key. In: the `_id` to begin after. Out: how many documents
// were looked at and resealed, and the `_id` to continue after. Documents indexed by a verification's recipient or
// metadata are reindexed before the verification is resealed, so that a rotation that was cut off in between finds the
// verification again.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Change, Doc, Docs, Filter, RevisedDoc, Sort } from '../../infra/store/docs.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { SealedCollection } from '../domain/privacy/documents.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { createReindexByRecipient, type DueDoc } from './reindex-by-recipient.ts'
import { createReindexClaims } from './reindex-claims.ts'
import { createReindexMetadata } from './reindex-metadata.ts'
import { createResealEvents } from './reseal-events.ts'
import { createResealRefusals } from './reseal-refusals.ts'
import { createResealRules } from './reseal-rules.ts'
import {
  type ResealedFields,
  resealedAppFields,
  resealedOtpFields,
  resealedProviderFields,
  resealedUserFields,
  resealedWebhookFields,
} from './resealed-fields.ts'

export interface ResealedBatch {
  looked: number
  /** Resealed. The progress of a rotation is stored and shown under this name. */
  renewed: number
  unsealable: number
  /** The last `_id` seen; null at the end of the collection. */
  last: string | null
}

type Counted = Pick<ResealedBatch, 'renewed' | 'unsealable'>

export interface ResealDeps {
  store: CountersignStore
  keyring: Keyring
  clock: Pick<Clock, 'now'>
}

/** Documents that other processes changed meanwhile are read and resealed again. */
const MAX_TRIES_AFTER_LOST_RACE = 5

export function createResealBatch({ store, keyring, clock }: ResealDeps) {
  const reindexByRecipient = createReindexByRecipient({ store, keyring, clock })
  const reindexMetadata = createReindexMetadata({ store, keyring })
  const reindexClaims = createReindexClaims({ store, keyring, clock })
  const resealRefusals = createResealRefusals({ refusals: store.docs('refusals'), keyring })
  const resealRules = createResealRules({ rules: store.docs('recipient_rules'), keyring })
  const resealEvents = createResealEvents({ events: store.docs('events'), keyring })

  const reindex = (due: readonly DueDoc<OtpDoc>[]) => Promise.all([reindexByRecipient(due), reindexMetadata(due)])

  async function resealAll<T extends RevisedDoc>(
    docs: Docs<T>,
    batch: readonly T[],
    fieldsOf: (doc: T) => ResealedFields,
    beforeChange: (found: readonly DueDoc<T>[]) => Promise<unknown> = async () => {},
  ): Promise<Counted> {
    const unsealable = new Set<string>()
    let renewed = 0
    let remaining = batch
    for (let tries = 0; remaining.length > 0; tries += 1) {
      // The rest is left for the next pass. Counted as renewed, it makes sure that there is one.
      if (tries === MAX_TRIES_AFTER_LOST_RACE)
        return { renewed: renewed + remaining.length, unsealable: unsealable.size }
      const found = remaining.map(doc => ({ doc, fields: fieldsOf(doc) }))
      for (const { doc, fields } of found) if (fields.unsealable) unsealable.add(doc._id)
      const due = found.filter(({ fields }) => Object.keys(fields.set).length > 0)
      if (due.length === 0) break
      await beforeChange(due)
      const changes = due.map(({ doc: { _id, rev }, fields: { set } }) => ({ _id, rev, update: { $set: set } }))
      const answers = await docs.change(changes as Change<T>[])
      renewed += answers.filter(answer => answer === 'won').length
      const lost = due.flatMap(({ doc }, at) => (answers[at] === 'lost' ? [doc._id] : []))
      remaining = lost.length > 0 ? [...(await docs.get(lost)).values()] : []
    }
    return { renewed, unsealable: unsealable.size }
  }

  const inBatches =
    <T extends Doc>(docs: Pick<Docs<T>, 'find'>, reseal: (batch: readonly T[]) => Promise<Counted>) =>
    async (after: string, limit: number): Promise<ResealedBatch> => {
      const page = { sort: { _id: 1 } as Sort<T>, limit }
      const batch = await docs.find({ _id: { $gt: after } } as Filter<T>, page)
      const last = batch.length < limit ? null : (batch.at(-1)?._id ?? null)
      return { looked: batch.length, last, ...(await reseal(batch)) }
    }

  const resealWith = <T extends RevisedDoc>(
    docs: Docs<T>,
    fieldsOf: (keyring: Keyring, doc: T) => ResealedFields,
    beforeChange?: (found: readonly DueDoc<T>[]) => Promise<unknown>,
  ) => inBatches(docs, batch => resealAll(docs, batch, doc => fieldsOf(keyring, doc), beforeChange))

  const resealers: Record<SealedCollection, (after: string, limit: number) => Promise<ResealedBatch>> = {
    providers: resealWith(store.docs('providers'), resealedProviderFields),
    webhooks: resealWith(store.docs('webhooks'), resealedWebhookFields),
    apps: resealWith(store.docs('apps'), resealedAppFields),
    users: resealWith(store.docs('users'), resealedUserFields),
    claims: inBatches(store.docs('claims'), reindexClaims),
    refusals: inBatches(store.docs('refusals'), resealRefusals),
    recipient_rules: inBatches(store.docs('recipient_rules'), resealRules),
    events: inBatches(store.docs('events'), resealEvents),
    otps: resealWith(store.docs('otps'), resealedOtpFields, reindex),
  }

  return (collection: SealedCollection, after: string, limit: number): Promise<ResealedBatch> =>
    resealers[collection](after, limit)
}

// Finds the latest verification of a recipient in an app and mode. In: the recipient in canonical form. Out: its
// document, or null. Those that devices started do not count for a server and the other way round: anyone can start one
// with a publishable key, for any number.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { firstIdAt } from '../../../infra/ids.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { Identity } from '../../../machines/calls.ts'
import type { OtpDoc } from './documents.ts'
import { recipientIndexes } from './lookup-indexes.ts'

export interface LatestDeps {
  otps: Pick<Docs<OtpDoc>, 'find'>
  keyring: Pick<Keyring, 'indexes'>
}

type Starter = Pick<Identity, 'app_id' | 'mode' | 'kind'>

// By the recipient too: MongoDB could read the newest of all verifications first if their ids alone gave the order.
const NEWEST_FIRST = { recipient: 1, _id: -1 } as const

/** `since`: of those that started then or later. */
export async function latestOfRecipient(
  { otps, keyring }: LatestDeps,
  by: Starter,
  recipient: string,
  since = 0,
): Promise<OtpDoc | null> {
  const _id = { $gte: firstIdAt('otp', since) }
  const newest = { sort: NEWEST_FIRST, limit: 1 }
  const found = await Promise.all(
    // While data keys rotate, the recipient has an index under each of them.
    recipientIndexes(keyring, by, recipient).map(index =>
      // The index has the kind too: however many of the other kind there are, their documents are not read.
      otps.find({ recipient: index, _id, 'context.started_by.kind': by.kind }, newest),
    ),
  )
  return found.flat().toSorted((one, other) => (one._id < other._id ? 1 : -1))[0] ?? null
}

// Finds the latest verification of a recipient in an app and mode. In: the recipient in canonical form. Out: its document, or null. Those that
// devices started do not count for a server and the other way round: anyone can start one with a publishable key, for any number.
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

/** No index has the kind of the key, so those of the other kind are read too. A flood of them must not slow down a send. */
export const MAX_RECENT_READ = 20

export async function latestOfRecipient(
  { otps, keyring }: LatestDeps,
  by: Starter,
  recipient: string,
): Promise<OtpDoc | null> {
  const newest = { sort: NEWEST_FIRST, limit: 1 }
  const found = await Promise.all(
    // While data keys rotate, the recipient has an index under each of them.
    recipientIndexes(keyring, by, recipient).map(index =>
      otps.find({ recipient: index, _id: { $gte: 'otp_' }, 'context.started_by.kind': by.kind }, newest),
    ),
  )
  return newestOf(found.flat())
}

/** The latest that started at `since` or later. It is not found behind `MAX_RECENT_READ` newer ones of the other kind. */
export async function recentOfRecipient(
  { otps, keyring }: LatestDeps,
  by: Starter,
  recipient: string,
  since: number,
): Promise<OtpDoc | null> {
  const newest = { sort: NEWEST_FIRST, limit: MAX_RECENT_READ }
  const found = await Promise.all(
    recipientIndexes(keyring, by, recipient).map(index =>
      otps.find({ recipient: index, _id: { $gte: firstIdAt('otp', since) } }, newest),
    ),
  )
  return newestOf(found.flat().filter(({ context }) => context.started_by.kind === by.kind))
}

const newestOf = (docs: readonly OtpDoc[]): OtpDoc | null =>
  docs.toSorted((one, other) => (one._id < other._id ? 1 : -1))[0] ?? null

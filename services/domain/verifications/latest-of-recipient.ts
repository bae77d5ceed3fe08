// Finds the latest verification of a recipient in an app and mode. In: the recipient in canonical form. Out: its document, or null. Those that
// devices started do not count for a server and the other way round: anyone can start one with a publishable key, for any number.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { Identity } from '../../../machines/calls.ts'
import type { OtpDoc } from './documents.ts'
import { recipientIndexes } from './lookup-indexes.ts'

export interface LatestDeps {
  otps: Pick<Docs<OtpDoc>, 'find'>
  keyring: Pick<Keyring, 'indexes'>
}

export async function latestOfRecipient(
  { otps, keyring }: LatestDeps,
  by: Pick<Identity, 'app_id' | 'mode' | 'kind'>,
  recipient: string,
): Promise<OtpDoc | null> {
  // By the recipient too: MongoDB could read the newest of all verifications first if their ids alone gave the order.
  const newest = { sort: { recipient: 1, _id: -1 }, limit: 1 } as const
  const found = await Promise.all(
    // While data keys rotate, the recipient has an index under each of them.
    recipientIndexes(keyring, by, recipient).map(index =>
      otps.find({ recipient: index, _id: { $gte: 'otp_' }, 'context.started_by.kind': by.kind }, newest),
    ),
  )
  return found.flat().sort((one, other) => (one._id < other._id ? 1 : -1))[0] ?? null
}

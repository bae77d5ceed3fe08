// The ids of sends that joined a pending verification. In: any id. Out: the verification that it stands for, or null. The document of the
// verification lists its ids, and what one of them leads to is true only where that document has it: a send that was refused after all
// may leave a document here, which is purged with the verification.
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import type { JoinedIdDoc, OtpDoc } from './documents.ts'
import { sealedMetadataOf } from './metadata.ts'

export interface OtpById {
  otps: Pick<Docs<OtpDoc>, 'get'>
  joinedIds: Pick<Docs<JoinedIdDoc>, 'get'>
}

/** Null for an id that stands for no other: a first id, and one that does not exist. */
export const firstIdOf = async (joinedIds: OtpById['joinedIds'], otp_id: string): Promise<string | null> =>
  (await getOne(joinedIds, otp_id))?.otp_id ?? null

export async function otpById({ otps, joinedIds }: OtpById, otp_id: string): Promise<OtpDoc | null> {
  const own = await getOne(otps, otp_id)
  if (own) return own
  const first = await firstIdOf(joinedIds, otp_id)
  const joined = first === null ? undefined : await getOne(otps, first)
  return joined && idsOf(joined.context).includes(otp_id) ? joined : null
}

/** The verification of an event, as the id that the event names has it; null where it is gone, and for an event that is about none. */
export async function otpOfEvent(
  deps: OtpById,
  { payload: { otp_id } }: { payload: { otp_id?: string | undefined } },
): Promise<Omit<OtpDoc, 'first'> | null> {
  const doc = otp_id === undefined ? null : await otpById(deps, otp_id)
  if (doc === null || otp_id === undefined || doc._id === otp_id) return doc
  const { metadata: _, ...rest } = doc
  const metadata = sealedMetadataOf(doc, otp_id)
  return { ...rest, _id: otp_id, ...(metadata === undefined ? {} : { metadata }) }
}

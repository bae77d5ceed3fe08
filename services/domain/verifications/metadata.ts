// Metadata of a verification: what the caller's backend wants to find again with it. It is sealed in the document. Each
// of its members has a document of its own with a keyed index, by which verifications are found; a verification without
// metadata has none.
import { type Keyring, MissingKey, Unsealable } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { MetadataIndexDoc, OtpDoc } from './documents.ts'
import { atRest } from './encryption-context.ts'
import { metadataIndex } from './lookup-indexes.ts'

export type Metadata = Record<string, string>

export const METADATA_NAME = /^[A-Za-z0-9_.-]{1,40}$/
export const MAX_METADATA_MEMBERS = 16
export const MAX_METADATA_VALUE_LENGTH = 256
/** The most that all members may have together, as JSON in UTF-8. */
export const MAX_METADATA_BYTES = 4_096

type WithMetadata = Pick<OtpDoc, '_id' | 'metadata'> & { context: Pick<OtpDoc['context'], 'joined'> }

/** Each id has those of its own send. */
export const sealedMetadataOf = (
  { _id, metadata, context: { joined = [] } }: WithMetadata,
  otp_id: string,
): string | undefined => (otp_id === _id ? metadata : joined.find(one => one.otp_id === otp_id)?.metadata)

/** Null without metadata, and when their data key is no longer configured. */
export function metadataOf(
  keyring: Pick<Keyring, 'unseal'>,
  doc: WithMetadata,
  otp_id: string = doc._id,
): Metadata | null {
  const sealed = sealedMetadataOf(doc, otp_id)
  const json = sealed === undefined ? null : unsealOrNull(keyring, sealed, atRest.metadata(otp_id))
  return json === null ? null : JSON.parse(json)
}

/** Null without metadata, and when no key would open them. Throws `MissingKey`: what is sent without them cannot be made good when the key
 *  is back. */
export function metadataToSend(
  keyring: Pick<Keyring, 'unseal'>,
  { _id, metadata }: Pick<OtpDoc, '_id' | 'metadata'>,
): Metadata | null {
  try {
    return metadata === undefined ? null : JSON.parse(keyring.unseal(metadata, atRest.metadata(_id)))
  } catch (error) {
    if (error instanceof Unsealable && !(error instanceof MissingKey)) return null
    throw error
  }
}

/** The ids of all index documents of a verification begin with its id and a colon, which a semicolon follows. Another call with the same
 *  idempotency key may have tried to make the same verification with other metadata, so the id names the call too. */
export const metadataIndexDocs = (
  keyring: Pick<Keyring, 'index' | 'unseal'>,
  doc: OtpDoc,
  command_id: string,
): MetadataIndexDoc[] =>
  Object.entries(metadataOf(keyring, doc) ?? {}).map(([name, value], nth) => ({
    _id: `${doc._id}:${command_id}:${nth}`,
    index: metadataIndex(keyring, doc, name, value),
    purge_at: doc.purge_at,
  }))

export const otpIdOfMetadataIndex = ({ _id }: MetadataIndexDoc): string => _id.slice(0, _id.indexOf(':'))

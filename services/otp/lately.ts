// Verifications as this process saved them last. In their first seconds several things happen to each; what is decided on one of
// these is written on condition that it is still so, and whatever would not be written is decided anew on what the store has.
import type { OtpDoc } from '../../infra/otps/documents.ts'

export interface Lately {
  get(otp_id: string): OtpDoc | undefined
  keep(doc: OtpDoc): void
  forget(otp_id: string): void
}

const MOST = 5_000

export function lately(most = MOST): Lately {
  const docs = new Map<string, OtpDoc>()
  return {
    get: otp_id => docs.get(otp_id),
    keep(doc) {
      docs.delete(doc._id) // so that it is the latest again
      docs.set(doc._id, doc)
      if (docs.size > most) docs.delete(docs.keys().next().value as string)
    },
    forget: otp_id => void docs.delete(otp_id),
  }
}

// What is kept of an endpoint's answer. In: an event, its endpoint, and the body of the answer. Out: its beginning, scrubbed and sealed,
// or null. An endpoint may echo the number that it was told of, in a debug page or an error. So what is known of the person is hidden, as
// in the texts of vendors, and nothing is kept once the verification is gone: what has to be hidden is then unknown.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { MAX_ENDPOINT_TEXT, type Personal, patternOfSecrets, scrubAnswerText } from '../domain/privacy/answer-scrub.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { atRest } from '../domain/verifications/encryption-context.ts'
import { type OtpById, otpById } from '../domain/verifications/joined-ids.ts'
import { type EventDoc, eventAnswerContext } from '../domain/webhooks/documents.ts'
import type { Endpoint } from './endpoints.ts'

/** Bytes of an answer that are read. */
export const MAX_ANSWER_BYTES = 2_048

export interface KeepAnswerDeps extends OtpById {
  keyring: Pick<Keyring, 'seal' | 'unseal'>
}

/** Never throws: what an endpoint said is worth less than the result of the call. */
export type KeepAnswer = (
  event: Pick<EventDoc, '_id' | 'payload' | 'discard_answers'>,
  endpoint: Pick<Endpoint, 'secrets'>,
  body: Uint8Array,
) => Promise<string | null>

export function createKeepAnswer({ keyring, otps, joinedIds }: KeepAnswerDeps): KeepAnswer {
  async function scrubbed(
    { payload: { otp_id } }: Pick<EventDoc, 'payload'>,
    { secrets }: Pick<Endpoint, 'secrets'>,
    text: string,
  ): Promise<string | null> {
    const pattern = patternOfSecrets(secrets.map(({ secret }) => secret))
    // An event of the deployment, or a test event, is about no person.
    if (otp_id === undefined) return scrubAnswerText(text, null, pattern, MAX_ENDPOINT_TEXT)
    const otp = await otpById({ otps, joinedIds }, otp_id)
    return otp === null ? null : scrubAnswerText(text, personalOf(otp), pattern, MAX_ENDPOINT_TEXT)
  }

  /** A code that is derived is digits, which are hidden anyway; the caller's own may have letters. */
  function personalOf({ _id, context: { recipient, code } }: OtpDoc): Personal {
    const given = 'given' in code ? code.given : null
    return {
      recipient: keyring.unseal(recipient.sealed, atRest.recipient(_id)),
      code: given === null ? '' : keyring.unseal(given, atRest.givenCode(_id)),
    }
  }

  return async (event, endpoint, body) => {
    const text = textOf(body)
    if (text === '' || event.discard_answers) return null
    try {
      const kept = await scrubbed(event, endpoint, text)
      return kept === null ? null : keyring.seal(kept, eventAnswerContext(event._id))
    } catch {
      return null
    }
  }
}

/** Bytes that are not UTF-8 become U+FFFD; the word that the limit cuts is left out: half an address would not be recognised. */
function textOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, MAX_ANSWER_BYTES), { stream: true })
  return body.byteLength < MAX_ANSWER_BYTES ? text : text.replace(/\S*$/, '')
}

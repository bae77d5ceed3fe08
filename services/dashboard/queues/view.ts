// Dead letters as operators see them. In: a dead letter of the broker. Out: `{id, at, reason, attempts, body}`. Personal data in our own
// messages is sealed, and stays so. Other programs may have put anything into a queue, so a body passes through the log's redaction, and
// one that is not JSON, or too large, is shown in part.
import { Buffer, isUtf8 } from 'node:buffer'
import type { DeadLetter } from '../../../infra/broker/broker.ts'
import { isoTimeOrNull } from '../../../infra/iso-time.ts'
import { isJsonObject } from '../../../infra/json-object.ts'
import { redact } from '../../../infra/log/redact.ts'
import { scrub } from '../../../infra/log/scrub.ts'
import type { DeadLetterAnswer } from './schemas.ts'

/** The most bytes of JSON that are shown as a body. */
export const MAX_BODY_BYTES = { inList: 16_384, alone: 262_144 }
const MAX_PREVIEW_BYTES = 1_024

export const deadLetterView = (letter: DeadLetter, maxBodyBytes: number): DeadLetterAnswer => ({
  id: letter.id,
  at: isoTimeOrNull(letter.diedAt === 0 ? null : letter.diedAt),
  reason: scrub(letter.reason),
  attempts: letter.attempt,
  body: bodyView(letter, maxBodyBytes),
})

function bodyView({ body, content }: DeadLetter, maxBytes: number): Record<string, unknown> {
  if (content) return { unreadable: preview(Buffer.from(content)) }
  const json = Buffer.from(JSON.stringify(body))
  if (json.length > maxBytes) return { too_large: preview(json) }
  const { shown } = redact({ shown: body })
  return isJsonObject(shown) ? shown : { value: shown }
}

/** The beginning, as text where it is text. */
function preview(content: Buffer): { bytes: number; text: string } | { bytes: number; base64: string } {
  const bytes = content.length
  const beginning = content.subarray(0, MAX_PREVIEW_BYTES)
  if (!isUtf8(content)) return { bytes, base64: beginning.toString('base64') }
  // The word at the cut goes too: half a number would not be recognised as one.
  const text = beginning.toString()
  return { bytes, text: scrub(bytes > MAX_PREVIEW_BYTES ? text.replace(/\S{0,200}$/, '') : text) }
}

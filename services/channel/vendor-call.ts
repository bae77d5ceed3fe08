// One call of a vendor, and what came of it. In: the call. Out: whether the vendor accepted the message, what it answered, and whose fault it
// is when it did not; after the timeout the outcome is unknown.
import type { Clock } from '../../infra/clock.ts'
import type { AttemptResult, CallDetails } from '../domain/verifications/documents.ts'
import type { CallFeedback } from './admission/provider-gates.ts'
import {
  type Accepted,
  DestinationFault,
  type Fault,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
  type VendorAnswer,
} from './provider.ts'
import { type Personal, type SecretPattern, scrubVendorCode, scrubVendorText } from './vendor-scrub.ts'

export interface CallOutcome extends CallFeedback {
  result: AttemptResult
  reference: string | null
  answer: VendorAnswer
  fault?: Error
}

/** What is kept and shown of an answer, without the recipient, the code and the secrets of the provider's config. */
export function callDetails(
  answer: VendorAnswer,
  ms: number,
  { recipient, code }: Personal,
  secrets: SecretPattern,
): CallDetails {
  const personal = { recipient, code }
  const vendorCode = scrubVendorCode(answer.vendorCode, personal, secrets)
  const vendorText = scrubVendorText(answer.vendorText, personal, secrets)
  return {
    ms,
    ...(answer.httpStatus === null ? {} : { http_status: answer.httpStatus }),
    ...(vendorCode === null ? {} : { vendor_code: vendorCode }),
    ...(vendorText === null ? {} : { vendor_text: vendorText }),
  }
}

/** Where no vendor answered, the text is our own: what kept us from getting an answer. */
const noAnswer = (vendorText: string): VendorAnswer => ({ httpStatus: null, vendorCode: null, vendorText })
const answerTo = (fault: Fault): VendorAnswer => fault.answer ?? noAnswer(fault.message)

export async function callWithTimeout(
  call: (signal: AbortSignal) => Promise<Accepted>,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<CallOutcome> {
  const controller = new AbortController()
  let cancelTimeout = (): void => {}
  // The timeout also rejects by itself, because a provider may ignore the abort signal.
  const timeout = new Promise<never>((_, reject) => {
    cancelTimeout = clock.after(timeoutMs, () => {
      controller.abort()
      reject(controller.signal.reason)
    })
  })
  try {
    const { reference, httpStatus = null } = await Promise.race([call(controller.signal), timeout])
    const answer = { httpStatus, vendorCode: null, vendorText: null }
    return { result: 'accepted', reference, answer, retryAfterMs: null }
  } catch (error) {
    return outcomeOf(error, controller.signal)
  } finally {
    cancelTimeout()
  }
}

/** Throws what is neither a fault nor the result of a timeout: a bug. */
function outcomeOf(error: unknown, { aborted }: AbortSignal): CallOutcome {
  const defaults = { reference: null, retryAfterMs: null }
  if (error instanceof RecipientFault) return { ...defaults, result: 'refused', fault: error, answer: answerTo(error) }
  if (error instanceof ProviderFault)
    return {
      ...defaults,
      result: 'failed',
      fault: error,
      answer: answerTo(error),
      retryAfterMs: error.retryAfterMs,
      ignoredByBreaker: error instanceof DestinationFault,
    }
  if (error instanceof UnknownOutcome) return { ...defaults, result: 'unknown', fault: error, answer: answerTo(error) }
  if (aborted) return { ...defaults, result: 'unknown', answer: noAnswer('it did not answer in time') }
  throw error
}

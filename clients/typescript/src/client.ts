// The client of the API. Arguments and answers are objects with the API's own names.
import { canSolve, solutionOf } from './challenge.ts'
import { ChallengeRequiredError, ConnectionError, CountersignError } from './errors.ts'
import { request } from './request.ts'
import { createRetryBudget, retryWait } from './retries.ts'
import type {
  CancelRequest,
  Challenge,
  ExchangeRequest,
  ExchangeResult,
  Message,
  MessageRequest,
  ResendRequest,
  SendRequest,
  Verification,
  VerificationDetails,
  VerifyRequest,
  VerifyResult,
  WidgetChallenge,
} from './types.ts'
import { ScriptNotLoaded, widgetToken } from './vendor-widget.ts'

export interface CountersignOptions {
  /** A server key (`sk_…`) on your backend, a publishable one (`pk_…`) in apps and pages. Undefined, as a variable of the environment may
   *  be, is refused at once. */
  key: string | undefined
  /** Where Countersign runs, such as `https://otp.example.com`. */
  baseUrl: string
  /** How long to wait for one answer, in milliseconds; 15 s by default. The server itself answers within some 10 s. */
  timeout?: number
  /** How often a call is repeated at most; 2 by default. */
  maxRetries?: number
  /** In place of the global one. */
  fetch?: typeof fetch
  /** Solves the widget of a vendor, where the app has one in place of proofs of work. In: what the API asks for. Out:
   *  the widget's token. In pages the client shows the widget by itself; elsewhere, as in an app, such a call throws
   *  its `ChallengeRequiredError` without this. */
  solveWidget?: SolveWidget
}

export type SolveWidget = (challenge: WidgetChallenge, options: { signal: AbortSignal | undefined }) => Promise<string>

export interface CallOptions extends Pick<CountersignOptions, 'timeout' | 'maxRetries'> {
  /** Ends the call, its repetitions and the solving of a challenge. */
  signal?: AbortSignal
}

export interface SendOptions extends CallOptions {
  /** At most 128 characters, printable ASCII. Without one the client makes its own, so that a repetition sends no second code. */
  idempotencyKey?: string
}

/** ASCII, because headers carry nothing else safely. */
const PRINTABLE = /^[\x20-\x7e]+$/
/** A challenge may have expired while it was solved. */
const MOST_CHALLENGES = 3
/** In place of a widget's token. The service asks the vendor about it, and asks for a proof of work where the vendor is down. */
const NO_TOKEN = 'script-not-loaded'

/** `always`: a repetition has no effect of its own. `unexecuted`: it has, so only a call that was not executed is repeated. */
type Repeats = 'always' | 'unexecuted'

interface Call {
  method?: 'GET' | 'POST'
  path: string
  body?: object
  headers?: Record<string, string>
  repeats: Repeats
}

export class Countersign {
  /** Codes that were made elsewhere. */
  readonly messages: { send(message: MessageRequest, options?: SendOptions): Promise<Message> }
  readonly #options: Required<Omit<CountersignOptions, 'solveWidget'>> & { key: string }
  readonly #solveWidget: SolveWidget | undefined
  readonly #budget = createRetryBudget()

  constructor({
    key: given,
    baseUrl,
    timeout = 15_000,
    maxRetries = 2,
    fetch: send = fetch,
    solveWidget,
  }: CountersignOptions) {
    this.#solveWidget = solveWidget ?? (typeof document === 'object' ? showWidget : undefined)
    // A key that was read from a file may end with a line break.
    const key = given?.trim()
    if (!key || !baseUrl) throw new TypeError('Countersign needs a key and a baseUrl.')
    if (!PRINTABLE.test(key)) throw new TypeError('The key has characters that no key has.')
    // In a page, key and recipient would go to the page's own server.
    if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError('The baseUrl must begin with https:// or http://.')
    if (key.startsWith('sk_') && typeof document === 'object')
      throw new TypeError('A server key must not be in a web page, where anyone can read it. Use a publishable key.')
    // A browser's fetch may not be called as a method of another object.
    this.#options = { key, baseUrl: baseUrl.replace(/\/+$/, ''), timeout, maxRetries, fetch: (...of) => send(...of) }
    this.messages = {
      send: async (body, options = {}) =>
        this.#call({ path: '/messages', body, headers: idempotency(options), repeats: 'always' }, options),
    }
  }

  /** Starts a verification: makes a code and sends it. */
  async send(body: SendRequest, options: SendOptions = {}): Promise<Verification> {
    const headers = idempotency(options)
    return this.#callSolved({ path: '/otp/send', body, headers, repeats: 'always' }, options)
  }

  /** Sends again: on the next channel, or on the one that you name. */
  resend(body: ResendRequest, options: CallOptions = {}): Promise<Verification> {
    return this.#callSolved({ path: '/otp/resend', body, repeats: 'unexecuted' }, options)
  }

  /** Checks a code. A wrong one is `matched: false`, not an error. */
  async verify(body: VerifyRequest, options: CallOptions = {}): Promise<VerifyResult> {
    const check = (): Promise<VerifyResult> => this.#call({ path: '/otp/verify', body, repeats: 'unexecuted' }, options)
    try {
      return await check()
    } catch (error) {
      if (!isFailure(error) || error.executed === false) throw error
      const isApproved = await this.#isApproved(body.otp_id, options)
      options.signal?.throwIfAborted()
      // Of a wrong code a repetition would spend another attempt. Of the right one it gets the lost answer.
      if (!isApproved) throw error
      return check()
    }
  }

  /** How far a verification got. */
  status({ otp_id }: Pick<VerificationDetails, 'otp_id'>, options: CallOptions = {}): Promise<VerificationDetails> {
    return this.#call({ method: 'GET', path: `/otp/${encodeURIComponent(otp_id)}`, repeats: 'always' }, options)
  }

  /** Ends a verification. Server keys only. */
  cancel(body: CancelRequest, options: CallOptions = {}): Promise<Verification> {
    return this.#call({ path: '/otp/cancel', body, repeats: 'always' }, options)
  }

  /** Exchanges the token that a device brings for the recipient it proves. Server keys only. */
  exchange(body: ExchangeRequest, options: CallOptions = {}): Promise<ExchangeResult> {
    return this.#call({ path: '/verifications/exchange', body, repeats: 'always' }, options)
  }

  async #isApproved(otp_id: string, options: CallOptions): Promise<boolean> {
    return this.status({ otp_id }, options).then(
      ({ status }) => status === 'approved',
      () => false,
    )
  }

  /** Solves the challenges that the API asks of publishable keys. */
  async #callSolved<Answer>(call: Call, options: CallOptions): Promise<Answer> {
    let headers = call.headers ?? {}
    for (let solved = 0; ; solved += 1)
      try {
        return await this.#call<Answer>({ ...call, headers }, options)
      } catch (error) {
        const challenge = error instanceof ChallengeRequiredError ? error.problem.challenge : undefined
        if (!(error instanceof Error) || !challenge || solved === MOST_CHALLENGES) throw error
        const tried = headers['challenge-solution']
        headers = { ...headers, 'challenge-solution': await this.#solve(challenge, error, tried, options.signal) }
      }
  }

  /** `tried`: the solution that was refused. */
  async #solve(challenge: Challenge, refusal: Error, tried: string | undefined, signal?: AbortSignal): Promise<string> {
    if (challenge.type === 'pow') {
      if (!canSolve(challenge)) throw refusal
      return solutionOf(challenge, signal)
    }
    if (!this.#solveWidget) throw refusal
    return this.#solveWidget(challenge, { signal }).catch(cause => {
      signal?.throwIfAborted()
      if (cause instanceof ScriptNotLoaded && tried !== NO_TOKEN) return NO_TOKEN
      refusal.cause = cause
      throw refusal
    })
  }

  async #call<Answer>({ method = 'POST', path, body, headers, repeats }: Call, options: CallOptions): Promise<Answer> {
    const { key, baseUrl, fetch: send, ...defaults } = this.#options
    const { timeout = defaults.timeout, maxRetries = defaults.maxRetries, signal } = options
    const wire = {
      method,
      url: `${baseUrl}/api/v1${path}`,
      headers: {
        ...headers,
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    for (let repetition = 0; ; repetition += 1)
      try {
        const answer = (await request(send, wire, { timeout, signal })) as Answer
        this.#budget.succeeded()
        return answer
      } catch (error) {
        if (!isFailure(error) || (repeats === 'unexecuted' && error.executed !== false)) throw error
        const wait = retryWait(repetition, error.retry_after, Math.random())
        if (wait === null || repetition >= maxRetries || !this.#budget.take()) throw error
        await pause(wait, signal)
      }
  }
}

const showWidget: SolveWidget = (challenge, { signal }) => widgetToken(challenge, signal)

/** No answer, or one of a service or a proxy that failed for the moment. */
const isFailure = (error: unknown): error is CountersignError =>
  error instanceof ConnectionError || (error instanceof CountersignError && error.status >= 500)

/** Random, because all devices of a company share the idempotency keys of its publishable keys. `randomUUID` is missing
 *  in pages over http. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')

/** The server takes an empty key for none, and a repetition without a key would send a second code. */
function idempotency({ idempotencyKey }: SendOptions): Record<string, string> {
  const key = idempotencyKey?.trim() || randomKey()
  if (!PRINTABLE.test(key)) throw new TypeError('An idempotencyKey has printable ASCII characters only.')
  return { 'idempotency-key': key }
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let wake = (): void => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  await new Promise<void>(resolve => {
    wake = resolve
    timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', wake)
  })
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
  signal?.throwIfAborted()
}

// A refused call. In: the answer of the API (RFC 9457). Out: an error with words for people, and the words for each field.
import type { Schemas } from './schema.ts'

export class Problem extends Error {
  readonly status: number
  readonly type: string
  /** What went wrong, for people. */
  readonly detail: string
  readonly requestId: string | null
  readonly retryAfter: number | null
  /** By dotted path of the field. */
  readonly fields: ReadonlyMap<string, string>

  constructor(status: number, body: Partial<Schemas['Problem']>) {
    super(body.detail ?? body.title ?? `The server answered ${status}.`)
    this.status = status
    this.type = body.type ?? 'HTTPException'
    this.detail = this.message
    this.requestId = body.request_id ?? null
    this.retryAfter = body.retry_after ?? null
    this.fields = new Map((body.errors ?? []).map(({ path, message }) => [path, message]))
  }

  static async of(response: Response): Promise<Problem> {
    const body = await response.json().catch(() => ({}))
    return new Problem(response.status, body)
  }

  static unreachable(): Problem {
    return new Problem(0, { detail: 'Countersign cannot be reached. Check your connection, then try again.' })
  }

  /** Any thrown value as a problem: a mistake in a page is shown like a refusal. */
  static from(thrown: unknown): Problem {
    return thrown instanceof Problem ? thrown : new Problem(0, { detail: String(thrown) })
  }
}

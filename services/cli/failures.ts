// How the command line ends when it cannot do what was asked. Each failure has its exit code, so that scripts can tell them apart.
import type { Schemas } from './schema.ts'

export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const

type Problem = Schemas['Problem']

/** The server understood the call and refused it. */
export class Refused extends Error {
  readonly exitCode = EXIT.refused
  readonly problem: Partial<Problem>

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail ?? problem.title ?? `the server answered ${status}`)
    this.problem = { status, ...problem }
  }

  /** `doc_url` is a path where the deployment does not know its public address. */
  static async of(response: Response, url: string): Promise<Refused> {
    const body = (await response.json().catch(() => ({}))) as Partial<Problem>
    const doc_url = body.doc_url === undefined ? {} : { doc_url: new URL(body.doc_url, url).href }
    return new Refused(response.status, { ...body, ...doc_url })
  }
}

/** Something in the deployment needs attention: the answer itself was printed. */
export class Findings extends Error {
  readonly exitCode = EXIT.refused
}

/** The command line was written wrongly, or something that it needs is missing. */
export class UsageError extends Error {
  readonly exitCode = EXIT.usage
}

export class Unreachable extends Error {
  readonly exitCode = EXIT.unreachable
}

/** The server is away for a while: it cannot be reached, or it, or a proxy in front of it, answers 5xx. A restart does that. */
export const isServerAway = (error: unknown): error is Unreachable | Refused =>
  error instanceof Unreachable || (error instanceof Refused && (error.problem.status ?? 0) >= 500)

/** The same failure, and what to do about it. */
export function withAdvice(failure: Unreachable | Refused, advice: string): Unreachable | Refused {
  const detail = `${failure.message.replace(/\.$/, '')}; ${advice}`
  return failure instanceof Refused
    ? new Refused(failure.problem.status ?? 0, { ...failure.problem, detail })
    : new Unreachable(detail)
}

export type Failure = Refused | Findings | UsageError | Unreachable

export const isFailure = (error: unknown): error is Failure =>
  error instanceof Refused || error instanceof Findings || error instanceof UsageError || error instanceof Unreachable

/** What a person reads: the reason, the fields that were wrong, and the page that says what to do. */
export function failureLines(failure: Failure): string[] {
  if (!(failure instanceof Refused)) return [failure.message]
  const { status, type, errors = [], doc_url, request_id, retry_after } = failure.problem
  return [
    `${failure.message} (${[status, type].filter(Boolean).join(' ')})`,
    ...errors.map(({ path, message }) => `  ${path} ${message}`),
    ...(retry_after === undefined ? [] : [`  Try again in ${retry_after} s.`]),
    ...(doc_url === undefined ? [] : [`  What to do: ${doc_url}`]),
    ...(request_id === undefined ? [] : [`  Request: ${request_id}`]),
  ]
}

/** The same for programs. */
export const failureJson = (failure: Failure): object =>
  failure instanceof Refused ? failure.problem : { detail: failure.message }

// The admin API as pages call it. Paths, parameters, bodies and answers are typed by schema.ts, which is made of docs/openapi.json. A call
// that is refused throws a `Problem`; a session that has ended sends the viewer to the sign-in page.
import createClient, { type Middleware } from 'openapi-fetch'
import { Problem } from './problem.ts'
import type { paths, Schemas } from './schema.ts'

export type { Schemas }

export const api = createClient<paths, 'application/json'>({
  baseUrl: location.origin,
  credentials: 'same-origin',
  fetch: fetchOrRepeat,
})

let csrfToken: string | null = null
let onSessionEnd: () => void = () => {}
let renewSession: () => Promise<void> = async () => {}

/** Changes need the token that GET /me shows. */
export const setCsrfToken = (token: string | null): void => {
  csrfToken = token
}

/** Called when a call is refused because the session has ended. */
export const whenSessionEnds = (listener: () => void): void => {
  onSessionEnd = listener
}

/** Called when a change is refused, perhaps because the viewer has signed in again in another tab: sets the token of that session. */
export const whenChangeIsForbidden = (renew: () => Promise<void>): void => {
  renewSession = renew
}

export type StepUpWay = Schemas['StepUpWay']

let askStepUp: (ways: readonly StepUpWay[]) => Promise<boolean> = async () => false

/** Called when a change needs a step-up. Resolves to whether the viewer has proved it: then the change is repeated. */
export const whenStepUpIsAsked = (ask: typeof askStepUp): void => {
  askStepUp = ask
}

/** For a call that the page makes by itself, not for its viewer: it does not keep the session from ending. */
export const POLL_HEADERS = { 'X-Poll': '1' }

/** What a call takes from the reading that it belongs to. */
export type CallOptions = { signal: AbortSignal; headers: Record<string, string> }

const CSRF_HEADER = 'X-CSRF-Token'
const SAFE_METHODS = new Set(['GET', 'HEAD'])

/** Repeats a change once if it was made with the token of an older session, or when the viewer has proved again who they are. */
async function fetchOrRepeat(request: Request): Promise<Response> {
  const sent = request.headers.get(CSRF_HEADER)
  if (sent === null) return fetch(request)
  const again = request.clone()
  const response = await fetch(request)
  if (response.status !== 403) return response
  const { type, step_up = [] }: Partial<Schemas['Problem']> = await response
    .clone()
    .json()
    .catch(() => ({}))
  if (type === 'StepUpRequiredError') {
    if (!(await askStepUp(step_up))) return response
  } else {
    await renewSession()
    if (csrfToken === sent) return response
  }
  if (csrfToken === null) return response
  again.headers.set(CSRF_HEADER, csrfToken)
  return fetch(again)
}

const NOT_PROVED = 'You did not prove again who you are, so nothing was changed.'

const middleware: Middleware = {
  onRequest({ request }) {
    if (csrfToken !== null && !SAFE_METHODS.has(request.method) && isAdminCall(request.url))
      request.headers.set(CSRF_HEADER, csrfToken)
    return request
  },
  async onResponse({ request, response, schemaPath }) {
    if (response.ok) return response
    const problem = await Problem.of(response)
    if (response.status === 401 && isAdminCall(request.url) && schemaPath !== '/admin/v1/sign-in') onSessionEnd()
    // The server's words are those for a program, which can repeat its call.
    if (problem.type === 'StepUpRequiredError')
      throw new Problem(problem.status, { type: problem.type, detail: NOT_PROVED })
    throw problem
  },
  onError({ error }) {
    return error instanceof DOMException && error.name === 'AbortError' ? error : Problem.unreachable()
  },
}

const isAdminCall = (url: string): boolean => new URL(url).pathname.startsWith('/admin/v1/')

api.use(middleware)

type Body<Answer> = Answer extends { data: infer T } ? T : never

/** The body of an answer, as in `bodyOf(api.GET('/admin/v1/apps/{id}', { params: { path: { id } } }))`. */
export async function bodyOf<Answer extends { data?: unknown }>(call: Promise<Answer>): Promise<Body<Answer>> {
  const { data } = await call
  // A refusal was thrown by the middleware.
  return data as Body<Answer>
}

// The admin API as pages call it. Paths, parameters, bodies and answers are typed by schema.ts, which is made of docs/openapi.json. A call
// that is refused throws a `Problem`; a session that has ended sends the viewer to the sign-in page.
import createClient, { type Middleware } from 'openapi-fetch'
import { Problem } from './problem.ts'
import type { components, paths } from './schema.ts'

/** The types of the API's objects, such as `Schemas['ApiKey']`. */
export type Schemas = components['schemas']

export const api = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin' })

let csrfToken: string | null = null
let onSessionEnd: () => void = () => {}

/** Changes need the token that GET /me shows. */
export const setCsrfToken = (token: string | null): void => {
  csrfToken = token
}

/** Called when a call is refused because the session has ended. */
export const whenSessionEnds = (listener: () => void): void => {
  onSessionEnd = listener
}

const SAFE_METHODS = new Set(['GET', 'HEAD'])

const middleware: Middleware = {
  onRequest({ request }) {
    if (csrfToken !== null && !SAFE_METHODS.has(request.method) && isAdminCall(request.url))
      request.headers.set('X-CSRF-Token', csrfToken)
    return request
  },
  async onResponse({ request, response, schemaPath }) {
    if (response.ok) return response
    const problem = await Problem.of(response)
    if (response.status === 401 && isAdminCall(request.url) && schemaPath !== '/admin/v1/sign-in') onSessionEnd()
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

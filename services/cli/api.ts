// The admin API as the command line calls it. Paths, parameters, bodies and answers are typed by schema.ts, which is made of
// docs/openapi.json. A refused call throws `Refused`, one without an answer `Unreachable`.
import createClient from 'openapi-fetch'
import { Refused, Unreachable } from './failures.ts'
import type { Connection } from './profile.ts'
import type { paths, Schemas } from './schema.ts'

export type { Schemas }

export type Api = ReturnType<typeof createApi>

const TIMEOUT_MS = 60_000
const LARGEST_PAGE = 100

export function createApi({ url, token }: Connection) {
  const api = createClient<paths, 'application/json'>({
    baseUrl: url,
    headers: { authorization: `Bearer ${token}` },
    fetch: request => callServer(request),
  })
  api.use({
    async onResponse({ response }) {
      if (!response.ok) throw await Refused.of(response, url)
      return response
    },
  })
  return api
}

/** A redirect is not followed: the token is for the address that the operator named. */
export async function callServer(input: string | Request, init: RequestInit = {}): Promise<Response> {
  const address = typeof input === 'string' ? input : input.url
  const { origin } = new URL(address)
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(input, { signal: timeout, ...init, redirect: 'manual' }).catch(error => {
    throw new Unreachable(`${origin} cannot be reached: ${reasonOf(error)}`)
  })
  if (response.status >= 300 && response.status < 400)
    throw new Unreachable(`${origin} redirects to ${response.headers.get('location')}: use that address`)
  return response
}

/** Node says only "fetch failed"; why is in its cause. */
export const reasonOf = (error: unknown): string => {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return 'no answer in time'
  return cause?.code ?? cause?.message ?? message
}

type Body<Answer> = Answer extends { data: infer T } ? T : never

/** The body of an answer, as in `bodyOf(api.GET('/admin/v1/apps/{id}', { params: { path: { id } } }))`. */
export async function bodyOf<Answer extends { data?: unknown }>(call: Promise<Answer>): Promise<Body<Answer>> {
  // A refusal was thrown by the middleware.
  return (await call).data as Body<Answer>
}

interface PageQuery {
  limit: number
  cursor?: string
}

interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** A list that is one page, unless it is large. */
export async function allItems<T>(readPage: (query: { cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await readPage(cursor === null ? {} : { cursor })
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}

/** Goes through the pages of a list until there are `limit` items. */
export async function takeItems<T>(limit: number, readPage: (query: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const query: PageQuery = { limit: Math.min(limit - items.length, LARGEST_PAGE), ...(cursor && { cursor }) }
    const page = await readPage(query)
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null && items.length < limit)
  return items
}

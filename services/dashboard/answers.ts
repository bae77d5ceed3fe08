// What the operations of the admin API answer and refuse, as their declarations say it.
import type { z } from 'zod'
import { httpException } from '../../infra/http/problem.ts'
import type { ApiAnswer, ApiRefusal } from '../../infra/openapi/operation.ts'
import { documentRefusal, errorRefusal } from '../domain/openapi/refusals.ts'
import type { Page } from './page-schema.ts'

export interface Answer<Schema extends z.ZodType | null> extends ApiAnswer {
  schema: Schema
}

export const ok = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: z.output<Schema>,
  status: 200 | 201 = 200,
): Answer<Schema> => ({ status, schema, description, examples: { example } })

/** `example`: one item. */
export const page = <Item extends z.ZodType>(
  schema: Page<Item>,
  description: string,
  example: z.output<Item>,
): Answer<Page<Item>> => ok(schema, description, { items: [example], next_cursor: null } as z.output<Page<Item>>)

export const noContent = (description: string): Answer<null> => ({
  status: 204,
  schema: null,
  description,
  examples: {},
})

export const conflict = (when: string): ApiRefusal => documentRefusal(when, httpException(409))

/** What several operations refuse. */
export const refusal = {
  unauthorized: documentRefusal("There is no valid operator's token, and no valid session.", httpException(401)),
  forbidden: documentRefusal(
    "The role of the user is too low, or the request of a session has no valid CSRF token or another page's Origin.",
    httpException(403),
  ),
  notFound: documentRefusal('There is no such thing, or it belongs to another company.', httpException(404)),
  companyClosed: documentRefusal('The company of the user is closed. Nothing was changed.', httpException(409)),
  invalid: errorRefusal('ValidationError', 'Something in the request is malformed. Nothing was changed.', {
    errors: [{ path: 'name', message: 'is required' }],
  }),
  throttled: errorRefusal('RateLimitExceededError', 'Too many wrong tokens or codes came from this address.', {
    scope: 'operator_token',
    retry_after: 42,
  }),
  unavailable: errorRefusal(
    'ServiceUnavailableError',
    'The store is unavailable, or other requests keep changing the same document.',
  ),
}

// In: the parts of the API that the services describe. Out: the OpenAPI document of the product.
import { createOpenApiDocument, type OpenApiDocument } from '../../../infra/openapi/document.ts'
import type { ApiPart } from '../../../infra/openapi/operation.ts'
import { problemDetails } from './shared-schemas.ts'

/** The version of the API, not of the software: it changes when an answer does. */
const API_VERSION = '1.1.0'

export const createProductDocument = (
  parts: readonly ApiPart[],
  server: OpenApiDocument['servers'][number],
): OpenApiDocument =>
  createOpenApiDocument({
    info: {
      title: 'Countersign',
      version: API_VERSION,
      summary: 'Proves that a person controls a phone number or an email address.',
      description:
        'Send a one-time code, check it, and learn whom it proves. Every error is `application/problem+json` with a stable `type`; every response carries `X-Request-Id`, your own if you sent one. Times are ISO 8601 in UTC.',
      contact: { name: 'The Countersign authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    server,
    parts,
    problem: problemDetails,
  })

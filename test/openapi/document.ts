// The OpenAPI documents, as docs/openapi.json and docs/openapi-twilio.json hold them.
import type { OpenApiDocument } from '../../infra/openapi/document.ts'
import { ADMIN_API } from '../../services/dashboard/admin-api.ts'
import { createProductDocument } from '../../services/domain/openapi/document.ts'
import { CLIENT_API } from '../../services/edge/operations.ts'
import { createTwilioDocument } from '../../services/edge/twilio/operations.ts'

const SERVER: OpenApiDocument['servers'][number] = {
  url: '{origin}',
  description: 'Your deployment.',
  variables: { origin: { default: 'http://localhost:3000', description: 'The address of your deployment.' } },
}

export const createFileDocument = (): OpenApiDocument => createProductDocument([CLIENT_API, ADMIN_API], SERVER)

/** Twilio's API has forms, and errors of its own. */
export const createTwilioFileDocument = (): OpenApiDocument => createTwilioDocument(SERVER)

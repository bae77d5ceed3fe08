// The OpenAPI documents, as docs/openapi.json and docs/openapi-twilio.json hold them.
import { createOpenApiDocument, type OpenApiDocument } from '../../infra/openapi/document.ts'
import { ADMIN_API } from '../../services/dashboard/admin-api.ts'
import { createProductDocument } from '../../services/domain/openapi/document.ts'
import { CLIENT_API } from '../../services/edge/operations.ts'
import { TWILIO_OPERATIONS } from '../../services/edge/twilio/operations.ts'
import { errorResource } from '../../services/edge/twilio/schemas.ts'

const SERVER: OpenApiDocument['servers'][number] = {
  url: '{origin}',
  description: 'Your deployment.',
  variables: { origin: { default: 'http://localhost:3000', description: 'The address of your deployment.' } },
}

export const createFileDocument = (): OpenApiDocument => createProductDocument([CLIENT_API, ADMIN_API], SERVER)

/** Twilio's API has forms, and errors of its own. */
export const createTwilioFileDocument = (): OpenApiDocument =>
  createOpenApiDocument({
    info: {
      title: "Twilio Verify's API in Countersign",
      version: '1.0.0',
      summary: 'For apps that use Twilio Verify v2.',
      description:
        'Forms in, JSON out, with the names and the error codes of Twilio. docs/compat-twilio.md says what differs.',
      contact: { name: 'The Countersign authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    server: SERVER,
    parts: [
      {
        tag: { name: 'Twilio', description: 'The part of Twilio Verify v2 that Countersign answers.' },
        securitySchemes: {
          basic: {
            type: 'http',
            scheme: 'basic',
            description: 'User name: the account SID `AC…`, or any `SK…`. Password: a server key.',
          },
        },
        operations: Object.values(TWILIO_OPERATIONS),
      },
    ],
    problem: errorResource,
    problemMediaType: 'application/json',
  })

// The OpenAPI document of the whole product, as docs/openapi.json holds it.
import type { OpenApiDocument } from '../../infra/openapi/document.ts'
import { ADMIN_API } from '../../services/dashboard/admin-api.ts'
import { createProductDocument } from '../../services/domain/openapi/document.ts'
import { CLIENT_API } from '../../services/edge/operations.ts'

export const createFileDocument = (): OpenApiDocument =>
  createProductDocument([CLIENT_API, ADMIN_API], {
    url: '{origin}',
    description: 'Your deployment.',
    variables: { origin: { default: 'http://localhost:3000', description: 'The address of your deployment.' } },
  })

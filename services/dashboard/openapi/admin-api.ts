// The admin API, /admin/v1, in the OpenAPI document: one file per subject. A test compares it with the routes.
import type { ApiPart } from '../../../infra/openapi/operation.ts'
import { addressListOperations } from './address-lists.ts'
import { appOperations } from './apps.ts'
import { companyOperations } from './companies.ts'
import { fraudOperations } from './fraud.ts'
import { healthOperations } from './health.ts'
import { keyOperations } from './keys.ts'
import { moneyOperations } from './money.ts'
import { privacyOperations } from './privacy.ts'
import { providerOperations } from './providers.ts'
import { queueOperations } from './queues.ts'
import { sandboxOperations } from './sandbox.ts'
import { statsOperations } from './stats.ts'
import { userOperations } from './users.ts'
import { verificationOperations } from './verifications.ts'
import { webhookOperations } from './webhook.ts'

export const ADMIN_API: ApiPart = {
  tag: {
    name: 'Admin',
    description:
      'What operators and users of the dashboard call. The `dashboard` role serves it, which may have an address of its own. An unknown member of a body is refused. Money is in micro-units. Lists come in pages: pass `next_cursor` as `cursor` to get the next one.',
  },
  securitySchemes: {
    operator: {
      type: 'http',
      scheme: 'bearer',
      description: "An operator's token (`ADMIN_TOKEN`). It may see every company.",
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'countersign_session',
      description:
        'The session of a signed-in user or operator, for 12 hours; over https `__Host-countersign_session`. A user may see their own company.',
    },
    csrf: {
      type: 'apiKey',
      in: 'header',
      name: 'X-CSRF-Token',
      description: 'The `csrf_token` of the session, on every change, which also needs the `Origin` of this address.',
    },
  },
  operations: [
    ...companyOperations,
    ...moneyOperations,
    ...appOperations,
    ...keyOperations,
    ...providerOperations,
    ...webhookOperations,
    ...verificationOperations,
    ...statsOperations,
    ...healthOperations,
    ...fraudOperations,
    ...addressListOperations,
    ...sandboxOperations,
    ...privacyOperations,
    ...queueOperations,
    ...userOperations,
  ],
}

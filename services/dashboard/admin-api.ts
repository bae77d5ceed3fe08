// The admin API, /admin/v1. OPERATIONS lists the operations of every subject: a folder with a routes.ts, or a single
// file. To add an operation, declare it in its subject; to add a subject, list its operations here.
import type { ApiPart } from '../../infra/openapi/operation.ts'
import { addressListOperations } from './address-lists/routes.ts'
import { keyOperations } from './api-keys.ts'
import { appOperations } from './apps/routes.ts'
import { auditOperations } from './audit.ts'
import { companyOperations } from './companies.ts'
import { fraudOperations } from './fraud.ts'
import { healthOperations } from './health/routes.ts'
import { hookOperations } from './hooks.ts'
import { learnedRouteOperations } from './learned-routes/routes.ts'
import { moneyOperations } from './money/routes.ts'
import { noticeOperations } from './notices.ts'
import type { AdminOperation } from './operation.ts'
import { priceOperations } from './prices.ts'
import { privacyOperations } from './privacy/routes.ts'
import { providerOperations } from './providers/routes.ts'
import { providerTestOperations } from './providers/test-route.ts'
import { queueOperations } from './queues/routes.ts'
import { refusalOperations } from './refusals.ts'
import { routingPreviewOperations } from './routing-preview.ts'
import { sandboxOperations } from './sandbox/routes.ts'
import { settingsTrialOperations } from './settings-trial/routes.ts'
import { type InvitationDeps, invitationOperations } from './sign-in/invitations.ts'
import { type PasskeyRouteDeps, passkeyOperations } from './sign-in/passkeys/routes.ts'
import { type SignInDeps, signInOperations } from './sign-in/routes.ts'
import { stepUpOperations } from './sign-in/step-up.ts'
import { statsOperations } from './stats/routes.ts'
import { type UserDeps, userOperations } from './users/routes.ts'
import { verificationCommandOperations } from './verifications/commands.ts'
import { verificationOperations } from './verifications/routes.ts'
import { endpointOperations } from './webhook/endpoint.ts'
import { eventOperations } from './webhook/events.ts'
import { listenOperations } from './webhook/listen.ts'
import { rotationOperations } from './webhook/rotation.ts'

export type AllDeps = SignInDeps & InvitationDeps & PasskeyRouteDeps & UserDeps

export const OPERATIONS: readonly AdminOperation<AllDeps>[] = [
  ...companyOperations,
  ...moneyOperations,
  ...priceOperations,
  ...noticeOperations,
  ...appOperations,
  ...settingsTrialOperations,
  ...keyOperations,
  ...providerOperations,
  ...providerTestOperations,
  ...routingPreviewOperations,
  ...learnedRouteOperations,
  ...endpointOperations,
  ...rotationOperations,
  ...hookOperations,
  ...eventOperations,
  ...listenOperations,
  ...verificationOperations,
  ...verificationCommandOperations,
  ...refusalOperations,
  ...statsOperations,
  ...healthOperations,
  ...fraudOperations,
  ...addressListOperations,
  ...sandboxOperations,
  ...privacyOperations,
  ...auditOperations,
  ...queueOperations,
  ...signInOperations,
  ...stepUpOperations,
  ...passkeyOperations,
  ...invitationOperations,
  ...userOperations,
]

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
        'The session of a signed-in user or operator, for 12 hours, or until two hours without use; over https `__Host-countersign_session`. A user may see their own company.',
    },
    csrf: {
      type: 'apiKey',
      in: 'header',
      name: 'X-CSRF-Token',
      description: 'The `csrf_token` of the session, on every change, which also needs the `Origin` of this address.',
    },
  },
  operations: OPERATIONS,
}

// The admin API, /admin/v1. OPERATIONS lists the operations of every subject: a folder with an operations.ts, or a single
// file. To add an operation, declare it in its subject; to add a subject, list its operations here.
import type { ApiPart } from '../../infra/openapi/operation.ts'
import { addressListOperations } from './address-lists/operations.ts'
import { keyOperations } from './api-keys.ts'
import { appOperations } from './apps/operations.ts'
import { auditOperations } from './audit.ts'
import { companyOperations } from './companies.ts'
import { fraudOperations } from './fraud.ts'
import { healthOperations } from './health/operations.ts'
import { hookOperations } from './hooks.ts'
import { learnedRouteOperations } from './learned-routes/operations.ts'
import { moneyOperations } from './money/operations.ts'
import { noticeOperations } from './notices.ts'
import type { AdminOperation } from './operation.ts'
import { priceOperations } from './prices.ts'
import { privacyOperations } from './privacy/operations.ts'
import { providerOperations } from './providers/operations.ts'
import { providerTestOperations } from './providers/test-operation.ts'
import { queueOperations } from './queues/operations.ts'
import { recipientRuleOperations } from './recipient-rules.ts'
import { refusalOperations } from './refusals.ts'
import { routingPreviewOperations } from './routing-preview.ts'
import { sandboxOperations } from './sandbox/operations.ts'
import { settingsTrialOperations } from './settings-trial/operations.ts'
import { type InvitationDeps, invitationOperations } from './sign-in/invitations.ts'
import { type SignInDeps, signInOperations } from './sign-in/operations.ts'
import { type PasskeyDeps, passkeyOperations } from './sign-in/passkeys/operations.ts'
import { stepUpOperations } from './sign-in/step-up.ts'
import { statsOperations } from './stats/operations.ts'
import { type UserDeps, userOperations } from './users/operations.ts'
import { verificationCommandOperations } from './verifications/commands.ts'
import { verificationOperations } from './verifications/operations.ts'
import { endpointOperations } from './webhook/endpoint.ts'
import { eventOperations } from './webhook/events.ts'
import { listenOperations } from './webhook/listen.ts'
import { rotationOperations } from './webhook/rotation.ts'

export type AllDeps = SignInDeps & InvitationDeps & PasskeyDeps & UserDeps

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
  ...recipientRuleOperations,
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

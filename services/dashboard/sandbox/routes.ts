// GET /sandbox/messages: what the sandbox has received. POST /sandbox/inbound: simulates a WhatsApp message from a user.
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import type { OtpReport } from '../../../machines/reports.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { referenceIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { referencesIn } from '../../domain/verifications/whatsapp-references.ts'
import { mayAccessCompany, principalOf } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { recipientQuery } from '../recipients.ts'
import { readQuery, validationProblem } from '../request-input.ts'
import { type InboxMessage, readInbox } from './inbox.ts'
import type { SandboxMessageAnswer } from './schemas.ts'

const MAX_MESSAGES = 100

const inboxQuery = z.strictObject({ recipient: recipientQuery.optional() })

export const inboundBody = z.strictObject({
  app_id: z.string(),
  /** With or without the plus: a WhatsApp id is a number without it. */
  from: z.string().regex(/^\+?[1-9]\d{6,14}$/, 'must be a phone number, such as "+447911123456"'),
  text: z.string(),
})

const messageView = ({ at, ...rest }: InboxMessage): SandboxMessageAnswer => ({ ...rest, at: isoTime(at) })

export const addSandboxRoutes: AddRoutes = (
  router,
  { store, broker, keyring, clock, tenancy, readBody, withAudit },
) => {
  router.get('/sandbox/messages', async ctx => {
    const { recipient } = readQuery(ctx, inboxQuery)
    const { company_id } = principalOf(ctx)
    const inboxFilter = {
      limit: MAX_MESSAGES,
      ...(recipient === undefined ? {} : { recipient }),
      ...(company_id === null ? {} : { company_id }),
    }
    const messages = await readInbox({ store, keyring, tenancy }, inboxFilter)
    ctx.body = messages.map(messageView)
  })

  router.post('/sandbox/inbound', async ctx => {
    const { app_id, from, text } = await readBody(ctx, inboundBody)
    const app = (await store.docs('apps').get([app_id])).get(app_id)
    if (!app || !mayAccessCompany(ctx, app.company_id))
      throw validationProblem([{ path: 'app_id', message: 'is not the id of an app' }])
    const report: OtpReport = {
      type: 'message.received',
      app_id,
      // A simulated message must not approve a live verification, even if its text holds a live reference.
      mode: 'test',
      sealed_from: keyring.seal(from, inFlight.from),
      references: referencesIn(text).flatMap(reference => referenceIndexes(keyring, reference)),
      at: clock.now(),
    }
    ctx.body = await withAudit(ctx, () => ({
      action: 'sandbox.play_message',
      target: app_id,
      company_id: app.company_id,
      before: null,
      after: null,
      perform: async () => {
        await broker.publish('otp.reports', { id: `sandbox:${randomUUID()}`, body: report, trace: traceOf(ctx) })
        return { accepted: true }
      },
    }))
  })
}

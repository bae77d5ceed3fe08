// SMS by Infobip's SMS API v3. In: a message. Out: the id of the message.
// Receipts come through a subscription of the account, because only there Infobip proves itself. `callbackData` holds the delivery id and
// comes back in every receipt.
import { z } from 'zod'
import type { ReportedStatus } from '../../../machines/otp.ts'
import { infobip } from '../../domain/tenancy/provider-types/infobip.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { BadSignature, type CallbackItem, codeValiditySeconds, type Provider, type ProviderDeps } from '../provider.ts'
import { failureBy, hasWebhookPassword, parseCallbackBody, receiptItems } from './signed-callbacks.ts'
import { isSuccess, postJson, readAnswer } from './vendor-http.ts'

export function createInfobipProvider(
  { config }: { config: ProviderConfigs['infobip'] },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
): Provider {
  const { api_key, from, webhook_password, base_url } = config
  const url = `${base_url}/sms/3/messages`
  const headers = { authorization: `App ${api_key}` }

  const provider: Provider = {
    async send({ recipient, text, delivery_id, expires_at }, signal) {
      const message = {
        sender: from,
        destinations: [{ to: recipient.replace(/^\+/, '') }],
        content: { text },
        options: {
          validityPeriod: { amount: codeValiditySeconds(expires_at, clock.now(), VALIDITY), timeUnit: 'SECONDS' },
        },
        webhooks: { callbackData: delivery_id },
      }
      const answer = await postJson(outbound, { url, headers, body: { messages: [message] }, signal })
      // A rejected message is answered with success.
      const rejection = isSuccess(answer) ? rejectionIn(answer.json) : undefined
      const reading = { id: ID, code: rejection?.name ?? codeIn(answer.json), errors: infobip.errors }
      return readAnswer(rejection ? { ...answer, json: rejection } : answer, clock.now(), reading)
    },
  }
  if (webhook_password === null) return provider
  return {
    ...provider,
    parseCallback({ headers: given, body }) {
      if (!hasWebhookPassword(given, webhook_password)) throw new BadSignature()
      return parseCallbackBody(REPORTS, body).results.flatMap(reportItems)
    },
  }
}

/** Infobip takes at most 48 hours. */
const VALIDITY = { min: 30, max: 172_800 }

const name = z.string().regex(/^[A-Z][A-Z0-9_]{0,60}$/)
const STATUS = z.object({ groupName: z.string(), name, description: z.string().optional() })
const SENT = z.object({ messages: z.tuple([z.object({ messageId: z.string().min(1).max(200), status: STATUS })]) })

const ID = SENT.transform(({ messages: [{ messageId }] }) => messageId)

function rejectionIn(json: unknown): z.infer<typeof STATUS> | undefined {
  const status = SENT.safeParse(json).data?.messages[0].status
  return status && STATUSES.get(status.groupName) === 'failed' ? status : undefined
}

/** Infobip has two shapes of errors. */
const ERROR_BODY = z.union([
  z.object({ errorCode: name }).transform(({ errorCode }) => errorCode),
  z
    .object({ requestError: z.object({ serviceException: z.object({ messageId: name }) }) })
    .transform(({ requestError }) => requestError.serviceException.messageId),
])
const codeIn = (json: unknown): string | undefined => ERROR_BODY.safeParse(json).data

const REPORT = z.object({
  messageId: z.string().min(1).max(200),
  callbackData: z.string().min(1).max(200).nullish(),
  status: STATUS,
  error: z.object({ name, description: z.string().nullish() }).optional().catch(undefined),
})
/** A user's own message has no status. */
const MESSAGE = z.object({
  messageId: z.string().min(1).max(200),
  from: z.string().min(1).max(50),
  text: z.string(),
  status: z.undefined().optional(),
})
const REPORTS = z.object({ results: z.array(z.unknown()) })

/** A report that cannot be parsed is skipped: one callback holds many. */
function reportItems(item: unknown): CallbackItem[] {
  const { data: written } = MESSAGE.safeParse(item)
  if (written)
    return [{ kind: 'message', id: written.messageId, from: written.from, user_id: null, text: written.text }]
  const { data } = REPORT.safeParse(item)
  if (!data) return []
  const { messageId, callbackData, status, error } = data
  return receiptItems({ delivery_id: callbackData ?? null, reference: messageId }, reportedStatus(status), () =>
    error && error.name !== 'NO_ERROR'
      ? failureBy(infobip.errors, error.name, error.description ?? null)
      : failureBy(infobip.errors, status.name, null),
  )
}

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['ACCEPTED', 'sent'],
  ['PENDING', 'sent'],
  ['DELIVERED', 'delivered'],
  ['UNDELIVERABLE', 'failed'],
  ['EXPIRED', 'failed'],
  ['REJECTED', 'failed'],
])

/** Statuses that do not mean what their group says: whether the message arrived is not known yet, or will never be. */
const SENT_NAMES: ReadonlySet<string> = new Set(['DELIVERED_TO_OPERATOR', 'EXPIRED_DLR_UNKNOWN'])

const reportedStatus = (status: z.infer<typeof STATUS>): ReportedStatus | undefined =>
  SENT_NAMES.has(status.name) ? 'sent' : STATUSES.get(status.groupName)

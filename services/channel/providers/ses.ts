// Email by Amazon SES, API v2. In: a message. Out: the id of the mail. Receipts are the events of a configuration set,
// through an SNS topic. A tag holds the delivery id and comes back in every event. What a bounce says may name the user
// of a mailbox, so it is not kept.
import { Buffer } from 'node:buffer'
import { z } from 'zod'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { ses } from '../../domain/tenancy/provider-types/ses.ts'
import type { CallbackItem, Provider, ProviderDeps, ReceiptFailure, RenderedMessage } from '../provider.ts'
import { asciiSender, toAscii } from './mail-address.ts'
import { signedHeaders } from './ses.signature.ts'
import { createTopic } from './ses.sns.ts'
import { failureBy, receiptItems } from './signed-callbacks.ts'
import { callVendor, parseJson, readAnswer, type VendorResponse } from './vendor-http.ts'

type Config = ProviderConfigs['ses']

export function createSesProvider(
  { config }: { config: Config },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
): Provider {
  const { region, base_url, topic_arn } = config
  const host = `https://email.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const url = new URL(`${base_url ?? host}/v2/email/outbound-emails`)

  const provider: Provider = {
    async send(message, signal) {
      const body = JSON.stringify(mailOf(message, config))
      const call = { method: 'POST', url, contentType: 'application/json', body } as const
      const headers = signedHeaders({ ...config, ...call, service: 'ses', now: clock.now() })
      const answer = await callVendor(outbound, { method: 'POST', url: url.href, headers, body, signal })
      return readAnswer(answer, clock.now(), { id: ID, code: codeOf(answer), errors: ses.errors })
    },
  }
  if (topic_arn === null) return provider
  const topic = createTopic(topic_arn, outbound)
  return {
    ...provider,
    prepareCallback: ({ body }, now) => topic.prepare(body, now),
    parseCallback({ body }, now) {
      const message = topic.messageOf(body, now)
      return message === null ? [] : receiptsIn(message)
    },
  }
}

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' })

const mailOf = (
  { recipient, subject, text, html, delivery_id }: RenderedMessage,
  { from, configuration_set }: Config,
) => ({
  FromEmailAddress: asciiSender(from),
  Destination: { ToAddresses: [toAscii(recipient)] },
  Content: {
    Simple: {
      Subject: utf8(subject ?? ''),
      Body: { Text: utf8(text), ...(html === null ? {} : { Html: utf8(html) }) },
      Headers: [{ Name: 'Auto-Submitted', Value: 'auto-generated' }],
    },
  },
  EmailTags: [{ Name: 'delivery_id', Value: delivery_id }],
  ...(configuration_set === null ? {} : { ConfigurationSetName: configuration_set }),
})

const ID = z.object({ MessageId: z.string().min(1).max(200) }).transform(({ MessageId }) => MessageId)

/** `MessageRejected`, `MessageRejected:http://…` or `aws.ses#MessageRejected`, in a header or in the body. No error is the recipient's: SES
 *  refuses a mailbox with an event. */
const codeOf = ({ headers, json }: VendorResponse): string | undefined =>
  /(?:^|#)([A-Za-z]{1,60})(?::|$)/.exec(
    headers['x-amzn-errortype'] ?? ERROR_BODY.safeParse(json).data?.__type ?? '',
  )?.[1]
const ERROR_BODY = z.object({ __type: z.string() })

const EVENT = z.object({
  eventType: z.string().optional(),
  notificationType: z.string().optional(),
  mail: z.object({
    messageId: z.string().min(1).max(200),
    tags: z
      .object({ delivery_id: z.tuple([z.string().min(1).max(100)]) })
      .optional()
      .catch(undefined),
  }),
  bounce: z.object({ bounceType: z.string().max(50), bounceSubType: z.string().max(50) }).optional(),
})

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['Send', 'sent'],
  ['Delivery', 'delivered'],
  ['Bounce', 'failed'],
  ['Reject', 'failed'],
])

function receiptsIn(message: string): CallbackItem[] {
  const { data } = EVENT.safeParse(parseJson(Buffer.from(message)))
  // SNS checks a new topic with a text.
  if (!data) return []
  const type = data.eventType ?? data.notificationType ?? ''
  const { mail, bounce } = data
  return receiptItems(
    { delivery_id: mail.tags?.delivery_id[0] ?? null, reference: mail.messageId },
    STATUSES.get(type),
    () => failureOf(bounce, type),
  )
}

/** A permanent bounce is the recipient's, also of a subtype that Amazon adds later. */
function failureOf(bounce: z.infer<typeof EVENT>['bounce'], type: string): ReceiptFailure {
  if (!bounce) return failureBy(ses.errors, type, null)
  const { bounceType, bounceSubType } = bounce
  const vendorCode = `${bounceType}.${bounceSubType}`
  return { ...failureBy(ses.errors, bounceType === 'Permanent' ? bounceType : vendorCode, null), vendorCode }
}

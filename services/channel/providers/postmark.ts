// Email by Postmark's API. In: a message. Out: the id of the mail. The metadata of a mail hold the delivery id and come back in every
// receipt. The details of a bounce may name the user of a mailbox, so they are not kept.
import { z } from 'zod'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { postmark } from '../../domain/tenancy/provider-types/postmark.ts'
import { BadSignature, type Provider, type ProviderDeps } from '../provider.ts'
import { quotedSender, toAscii } from './mail-address.ts'
import { failureBy, hasWebhookPassword, parseCallbackBody, receiptItems } from './signed-callbacks.ts'
import { isListed, postJson, readAnswer } from './vendor-http.ts'

export function createPostmarkProvider(
  { config }: { config: ProviderConfigs['postmark'] },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
): Provider {
  const { server_token, from, message_stream, webhook_password, base_url } = config
  const headers = { 'x-postmark-server-token': server_token }

  const provider: Provider = {
    async send({ recipient, subject, text, html, delivery_id }, signal) {
      const body = {
        From: quotedSender(from),
        To: toAscii(recipient),
        Subject: subject ?? '',
        TextBody: text,
        ...(html === null ? {} : { HtmlBody: html }),
        MessageStream: message_stream,
        Metadata: { delivery_id },
        TrackOpens: false,
        TrackLinks: 'None',
      }
      const answer = await postJson(outbound, { url: `${base_url}/email`, headers, body, signal })
      return readAnswer(answer, clock.now(), { id: ID, code: codeIn(answer.json), errors: postmark.errors })
    },
  }
  if (webhook_password === null) return provider
  return {
    ...provider,
    parseCallback({ headers: given, body }) {
      if (!hasWebhookPassword(given, webhook_password)) throw new BadSignature()
      const { RecordType, Type, MessageID, Metadata } = parseCallbackBody(EVENT, body)
      const isFailed =
        RecordType === 'Bounce' && (isListed(postmark.errors.unreachable, Type) || REFUSED.has(Type ?? ''))
      return receiptItems(
        { delivery_id: Metadata?.delivery_id ?? null, reference: MessageID },
        RecordType === 'Delivery' ? 'delivered' : isFailed ? 'failed' : undefined,
        () => failureBy(postmark.errors, Type ?? null, null),
      )
    },
  }
}

const id = z.string().min(1).max(100)
const ID = z.object({ MessageID: id, ErrorCode: z.literal(0) }).transform(({ MessageID }) => MessageID)
const ERROR_BODY = z.object({ ErrorCode: z.int().min(1).max(99_999) })
const codeIn = (json: unknown): string | undefined => ERROR_BODY.safeParse(json).data?.ErrorCode.toString()

const EVENT = z.object({
  RecordType: z.string(),
  MessageID: id,
  Type: z.string().max(50).optional(),
  Metadata: z.object({ delivery_id: id.optional() }).optional().catch(undefined),
})

/** Bounces that end a mail and are not the recipient's fault. Others are delays, or answers to a mail that has arrived. */
const REFUSED: ReadonlySet<string> = new Set([
  'Blocked',
  'SpamNotification',
  'DMARCPolicy',
  'SMTPApiError',
  'VirusNotification',
])

// Parses Meta's callbacks. In: a signed notification about all phone numbers of a Meta app. Out: the receipts and users' messages of one
// phone number. A notification is a batch, and Meta adds new kinds of items without warning: an item that cannot be parsed is skipped.

import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { ReportedStatus } from '../../../machines/otp.ts'
import { whatsapp_cloud } from '../../domain/tenancy/provider-types/whatsapp_cloud.ts'
import { BadSignature, type Callback, type CallbackItem } from '../provider.ts'
import { failureBy, parseCallbackBody, receiptItems } from './signed-callbacks.ts'
import { errorTextIn } from './vendor-http.ts'

/** Meta signs no time, so a replay cannot be detected. It repeats receipts and messages, which changes nothing. */
export function createParseCallback(
  app_secret: string,
  phone_number_id: string,
): (callback: Callback) => readonly CallbackItem[] {
  return ({ headers, body }) => {
    const expected = `sha256=${createHmac('sha256', app_secret).update(body).digest('hex')}`
    if (!isSameSecret((headers['x-hub-signature-256'] ?? '').toLowerCase(), expected)) throw new BadSignature()
    return parseCallbackBody(NOTIFICATION, body).entry.flatMap(({ changes }) =>
      changes.flatMap(change => {
        const { data } = CHANGE.safeParse(change)
        // A Meta app may have several phone numbers, and the notifications of all of them come here.
        if (data?.value.metadata.phone_number_id !== phone_number_id) return []
        const { statuses, messages, contacts } = data.value
        return [
          ...statuses.flatMap(receiptOf),
          ...messages.flatMap(item => messageOf(item) ?? contactOf(item, contacts)),
        ]
      }),
    )
  }
}

const unparsedItems = z.array(z.unknown()).default([])

const NOTIFICATION = z.object({ object: z.string(), entry: z.array(z.object({ changes: unparsedItems })) })

const CHANGE = z.object({
  field: z.literal('messages'),
  value: z.object({
    messaging_product: z.literal('whatsapp'),
    metadata: z.object({ phone_number_id: z.string() }),
    statuses: unparsedItems,
    messages: unparsedItems,
    contacts: unparsedItems.catch([]),
  }),
})

const id = z.string().min(1).max(1_000)

const STATUS = z.object({
  id,
  status: z.string(),
  biz_opaque_callback_data: z.string().min(1).max(512).optional(),
  errors: unparsedItems.catch([]),
})
const ERROR = z.object({ code: z.int().min(0).max(999_999) })

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['played', 'delivered'],
  ['failed', 'failed'],
])

function receiptOf(item: unknown): CallbackItem[] {
  const { data } = STATUS.safeParse(item)
  if (!data) return []
  const [error] = data.errors
  return receiptItems(
    { delivery_id: data.biz_opaque_callback_data ?? null, reference: data.id },
    STATUSES.get(data.status),
    () => failureBy(whatsapp_cloud.errors, ERROR.safeParse(error).data?.code.toString() ?? null, errorTextIn(error)),
  )
}

const withTitle = z.object({ title: z.string() })

/** WhatsApp users with a username may hide their number. Such a message has no sender but the user's id, of this business alone. */
const SENDER = z.object({
  id,
  from: z.string().max(50).default(''),
  from_user_id: z.string().min(1).max(150).optional().catch(undefined),
})

const MESSAGE = z.intersection(
  SENDER,
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.object({ body: z.string() }) }),
    z.object({ type: z.literal('button'), button: z.object({ text: z.string() }) }),
    z.object({
      type: z.literal('interactive'),
      interactive: z.union([z.object({ button_reply: withTitle }), z.object({ list_reply: withTitle })]),
    }),
  ]),
)

/** Null for other kinds of messages. */
function messageOf(item: unknown): CallbackItem[] | null {
  const { data } = MESSAGE.safeParse(item)
  if (!data) return null
  const { id, from, from_user_id: user_id = null } = data
  return [{ kind: 'message', id, from, user_id, text: textOf(data) }]
}

const origin = z.string().optional().catch(undefined)
const waId = z.string().min(1).max(50)

/** Where Meta has the origin differs between its descriptions: beside the cards or in the card. */
const CONTACT = SENDER.extend({
  from_user_id: z.string().min(1).max(150),
  type: z.literal('contacts'),
  origin,
  contacts: z.tuple([
    z.object({
      origin,
      user_id: z.string().optional(),
      phones: z.tuple([z.object({ wa_id: waId.optional() })]),
    }),
  ]),
})
const PROFILE = z.object({ user_id: z.string(), wa_id: waId })

/** The number of a user who has shared it by the button of our request. Users can also send anybody's card, which
 *  proves nothing: Meta tells the two apart by the origin. Where Meta names the sender's number itself, the card must
 *  have the same. */
function contactOf(item: unknown, profiles: readonly unknown[]): CallbackItem[] {
  const { data } = CONTACT.safeParse(item)
  if (!data) return []
  const { id, from, from_user_id: user_id } = data
  const [card] = data.contacts
  const [{ wa_id }] = card.phones
  const stated = [
    ...(from === '' ? [] : [from]),
    ...profiles.flatMap(profile => {
      const { data: known } = PROFILE.safeParse(profile)
      return known?.user_id === user_id ? [known.wa_id] : []
    }),
  ]
  const isOwn =
    (card.origin ?? data.origin) === 'contact_request' && (card.user_id === undefined || card.user_id === user_id)
  const number = wa_id ?? stated[0]
  if (!isOwn || number === undefined || stated.some(one => one !== number)) return []
  return [{ kind: 'contact', id, user_id, from: number }]
}

function textOf(message: z.infer<typeof MESSAGE>): string {
  if (message.type === 'text') return message.text.body
  if (message.type === 'button') return message.button.text
  const { interactive } = message
  return 'button_reply' in interactive ? interactive.button_reply.title : interactive.list_reply.title
}

/** Meta's check that this address is ours. The answer is Meta's own challenge, if the verify token is right; otherwise null. */
export function createAnswerHandshake(verify_token: string): (query: URLSearchParams) => string | null {
  return query => {
    const tokenMatches = isSameSecret(query.get('hub.verify_token') ?? '', verify_token)
    const challenge = query.get('hub.challenge') ?? ''
    return tokenMatches && query.get('hub.mode') === 'subscribe' && /^[\w-]{1,200}$/.test(challenge) ? challenge : null
  }
}

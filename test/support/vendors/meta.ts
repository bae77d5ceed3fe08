// Simulates Meta's WhatsApp Cloud API by its documentation: what it checks, how it answers, how it signs its webhooks.
import { createHmac, randomBytes } from 'node:crypto'
import {
  type Answer,
  type ReceivedRequest,
  readObject,
  startVendor,
  type Vendor,
  type VendorCallback,
  type VendorOptions,
} from './vendor.ts'

interface MetaApp {
  phone_number_id: string
  access_token: string
  app_secret: string
  verify_token: string
}

interface MetaMessage {
  id: string
  /** The body of the request, parsed. */
  requestBody: Record<string, unknown>
}

export interface Meta extends Vendor<MetaMessage>, MetaApp {
  /** A user writes to the business; resolves with the status of our response. */
  sendUserMessage(from: string, text: string): Promise<number | null>
  /** A user whose number WhatsApp hides writes, or shares a contact. */
  sendHidden(user_id: string, message: object): Promise<number | null>
}

interface MetaOptions extends VendorOptions {
  /** Set in Meta's dashboard and not with each message; null while it is not set. */
  callbackUrl?: string | (() => string | null)
  /** The approved templates and the languages of each. */
  templates?: Record<string, readonly string[]>
}

export async function startMeta({
  callbackUrl = () => null,
  templates = { shop_code: ['en_US'] },
  ...options
}: MetaOptions = {}): Promise<Meta> {
  const app: MetaApp = {
    phone_number_id: '106540352242922',
    access_token: 'EAAJBtheaccesstokenofatest',
    app_secret: '0123456789abcdef0123456789abcdef',
    verify_token: 'a verify token',
  }
  const running = await startVendor<MetaMessage>(
    {
      handleRequest(request) {
        const requestBody = readObject(request) ?? {}
        const answer = requestError(request, requestBody, { app, templates })
        if (answer) return { answer }
        const message = { id: wamid(), requestBody }
        return { message, answer: { status: 200, body: accepted(message) } }
      },
      refused: () => metaError(400, 131026, 'Message undeliverable'),
      busy: () => metaError(429, 130429, 'Rate limit hit'),
      broken: status => metaError(status, 131000, 'Something went wrong'),
      receipt: ({ id, requestBody }, receiptStatus) => {
        const { biz_opaque_callback_data } = requestBody
        return callbackWith([{ statuses: [metaStatus(id, receiptStatus, biz_opaque_callback_data)] }])
      },
    },
    options,
  )
  const callbackWith = (values: object[]): VendorCallback | null => {
    const url = typeof callbackUrl === 'string' ? callbackUrl : callbackUrl()
    return url === null ? null : metaCall(url, metaNotice(values, app), app)
  }
  return {
    ...running,
    ...app,
    sendUserMessage: async (from, text) => {
      const call = callbackWith([{ messages: [metaText(from, text)] }])
      return call && running.call(call)
    },
    sendHidden: async (user_id, message) => {
      const profile = { profile: { name: 'Zoë 😀', username: 'zoe' }, user_id }
      const call = callbackWith([{ contacts: [profile], messages: [hiddenMessage(user_id, message)] }])
      return call && running.call(call)
    },
  }
}

export const hiddenMessage = (from_user_id: string, message: object): object => ({
  from_user_id,
  id: wamid(),
  timestamp: '1750263773',
  ...message,
})

export const hiddenText = (body: string): object => ({ type: 'text', text: { body } })

/** What a user answers to the request for their number; any other card has another origin. */
export const sharedContact = (number: string, origin = 'contact_request'): object => ({
  type: 'contacts',
  contacts: [{ origin, name: { formatted_name: 'Zoë' }, phones: [{ phone: `+${number}`, wa_id: number }] }],
})

const wamid = (): string => `wamid.${randomBytes(30).toString('base64')}`

export const metaError = (status: number, code: number, title: string): Answer => ({
  status,
  body: {
    error: {
      message: `(#${code}) ${title}`,
      type: 'OAuthException',
      code,
      fbtrace_id: 'A_fbtrace',
      error_data: { messaging_product: 'whatsapp', details: `${title}: recipient 447700900123, code 739164` },
    },
  },
})

const isDeterministic = (template: unknown): boolean =>
  (template as Template | undefined)?.language?.policy === 'deterministic'

interface Template {
  name?: string
  language?: { policy?: string; code?: string }
  components?: { type: string; sub_type?: string; index?: string; parameters: { type: string; text: string }[] }[]
}

function requestError(
  { method, path, headers }: ReceivedRequest,
  requestBody: Record<string, unknown>,
  { app, templates }: { app: MetaApp; templates: Record<string, readonly string[]> },
): Answer | null {
  if (method !== 'POST' || !new RegExp(`^/v\\d+\\.\\d+/${app.phone_number_id}/messages$`).test(path))
    return metaError(400, 100, 'Unsupported post request')
  // Meta's description of its API has both of these as required.
  if (!/^\S+\/\d\S*$/.test(headers['user-agent'] ?? '')) return metaError(400, 100, 'A User-Agent with a version')
  if (requestBody.type === 'template' && !isDeterministic(requestBody.template))
    return metaError(400, 131009, 'The policy of the language must be deterministic')
  if (headers.authorization !== `Bearer ${app.access_token}`) return metaError(401, 190, 'Invalid OAuth access token')
  if (requestBody.messaging_product !== 'whatsapp')
    return metaError(400, 100, 'The parameter messaging_product is required.')
  if (requestBody.recipient !== undefined && requestBody.to === undefined) return contactRequestError(requestBody)
  if (!/^\+[1-9]\d{6,14}$/.test(String(requestBody.to))) return metaError(400, 131009, 'Parameter value is not valid')
  if (requestBody.type === 'text') return null
  const { name = '', language, components = [] } = (requestBody.template ?? {}) as Template
  if (!templates[name]?.includes(language?.code ?? ''))
    return metaError(404, 132001, 'Template name does not exist in the translation')
  const [text, button, ...more] = components
  const isButton = button?.type === 'button' && button.sub_type === 'url' && button.index === '0'
  if (text?.type !== 'body' || !isButton || more.length > 0) return metaError(400, 132000, 'Number of parameters')
  const [code] = text.parameters
  const same = JSON.stringify(text.parameters) === JSON.stringify(button?.parameters)
  if (!same || !/^\w{1,15}$/.test(code?.text ?? '')) return metaError(400, 132012, 'Parameter format does not match')
  return null
}

interface ContactRequest {
  type?: string
  body?: { text?: string }
  action?: { name?: string }
}

function contactRequestError({ recipient, type, interactive }: Record<string, unknown>): Answer | null {
  if (!/^[A-Z]{2}\.\w{1,128}$/.test(String(recipient))) return metaError(400, 131009, 'Parameter value is not valid')
  if (type === 'template') return metaError(400, 131062, 'Business-scoped User ID recipients are not supported')
  const { type: kind, body, action } = (interactive ?? {}) as ContactRequest
  const isRequest = kind === 'request_contact_info' && action?.name === kind && Boolean(body?.text)
  return type === 'interactive' && isRequest ? null : metaError(400, 100, 'Invalid parameter')
}

const accepted = ({ id, requestBody }: MetaMessage): object => ({
  messaging_product: 'whatsapp',
  contacts: [{ input: requestBody.to, wa_id: String(requestBody.to).slice(1) }],
  messages: [{ id, ...(requestBody.type === 'template' ? { message_status: 'accepted' } : {}) }],
})

/** One element of `statuses`. */
export const metaStatus = (id: string, status: string, biz_opaque_callback_data?: unknown): object => ({
  id,
  status,
  timestamp: '1750263773',
  recipient_id: '447700900123',
  ...(biz_opaque_callback_data === undefined ? {} : { biz_opaque_callback_data }),
  ...(status === 'failed' ? { errors: [{ code: 131026, title: 'Message undeliverable' }] } : {}),
})

/** One element of `messages`. */
export const metaText = (from: string, body: string, id = wamid()): object => ({
  from,
  id,
  timestamp: '1750263773',
  type: 'text',
  text: { body },
})

/** A whole notification, with one change for each value. */
export const metaNotice = (values: object[], { phone_number_id }: Pick<MetaApp, 'phone_number_id'>): object => ({
  object: 'whatsapp_business_account',
  entry: values.map(value => ({
    id: '102290129340398',
    changes: [
      {
        field: 'messages',
        value: {
          messaging_product: 'whatsapp',
          metadata: { display_phone_number: '15550783881', phone_number_id },
          contacts: [{ profile: { name: 'Zoë 😀' }, wa_id: '447700900123' }],
          ...value,
        },
      },
    ],
  })),
})

/** Meta escapes all characters that are not ASCII, and signs the escaped text. */
export function metaCall(url: string, notice: unknown, { app_secret }: Pick<MetaApp, 'app_secret'>): VendorCallback {
  const body = JSON.stringify(notice).replaceAll(
    /[\u0080-\uffff]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return { method: 'POST', url, headers: metaSignatureHeaders(body, app_secret), body }
}

export const metaSignatureHeaders = (body: string | Uint8Array, app_secret: string): Record<string, string> => ({
  'content-type': 'application/json',
  'x-hub-signature-256': `sha256=${createHmac('sha256', app_secret).update(body).digest('hex')}`,
})

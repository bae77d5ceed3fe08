// WhatsApp by Meta's Cloud API. In: a message, of which only the code is sent: an approved authentication template has the text, and takes
// the code twice, for the text and for the copy button. Out: the wamid of the message. Replies to users are plain text, or
// ask a user who hides their number for it.
import { z } from 'zod'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { whatsapp_cloud } from '../../domain/tenancy/provider-types/whatsapp_cloud.ts'
import { type Accepted, type Provider, type ProviderDeps, ProviderFault, type RenderedMessage } from '../provider.ts'
import { faultFromStatus, postJson, readAnswer, type VendorResponse } from './vendor-http.ts'
import { createAnswerHandshake, createParseCallback } from './whatsapp_cloud.callbacks.ts'
import { metaLanguages } from './whatsapp_cloud.languages.ts'

type Config = ProviderConfigs['whatsapp_cloud']

/** A template has no translation into the language that was asked for. */
const NO_SUCH_TRANSLATION = '132001'

/** How long a missing translation is not tried again. */
const MISSING_TRANSLATION_MS = 600_000

export function createWhatsappProvider(
  { config }: { config: Config },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
): Provider {
  const { phone_number_id, access_token, app_secret, verify_token, template, template_language } = config
  const url = `${config.base_url}/${config.api_version}/${encodeURIComponent(phone_number_id)}/messages`
  const headers = { authorization: `Bearer ${access_token}` }
  const missingUntil = new Map<string, number>()

  const post = (message: { to: string } | { recipient: string }, signal: AbortSignal): Promise<VendorResponse> => {
    const body = { messaging_product: 'whatsapp', recipient_type: 'individual', ...message }
    return postJson(outbound, { url, headers, body, signal })
  }

  /** The translations to try, best first. */
  function languagesFor(message: RenderedMessage): string[] {
    if (template_language !== null) return [template_language]
    const wanted = [...metaLanguages(message.requested_locale), ...metaLanguages(message.locale), 'en', 'en_US']
    const available = wanted.filter(language => (missingUntil.get(language) ?? 0) <= clock.now())
    // When all are known to be missing, one call is enough to find out whether that has changed.
    return available.length > 0 ? [...new Set(available)] : wanted.slice(0, 1)
  }

  return {
    async send(message, signal) {
      if (template === null) throw new ProviderFault('it has no template configured')
      const languages = languagesFor(message)
      for (;;) {
        const language = languages.shift() ?? ''
        const answer = await post(
          { to: withPlus(message.recipient), ...templateMessage(message, template, language) },
          signal,
        )
        // A missing translation means that nothing was sent, so the next language is tried.
        if (codeOf(answer) !== NO_SUCH_TRANSLATION) return accepted(answer, clock.now())
        missingUntil.set(language, clock.now() + MISSING_TRANSLATION_MS)
        if (languages.length === 0) throw faultFromStatus(answer, clock.now(), NO_SUCH_TRANSLATION)
      }
    },

    async reply({ recipient, text, delivery_id }, signal) {
      const message = { type: 'text', text: { preview_url: false, body: text }, ...callbackData(delivery_id) }
      return accepted(await post({ to: withPlus(recipient), ...message }, signal), clock.now())
    },

    async askForContact({ recipient, text, delivery_id }, signal) {
      const action = { name: 'request_contact_info' }
      const interactive = { type: 'request_contact_info', body: { text }, action }
      const message = { type: 'interactive', interactive, ...callbackData(delivery_id) }
      return accepted(await post({ recipient, ...message }, signal), clock.now())
    },

    ...(app_secret === null ? {} : { parseCallback: createParseCallback(app_secret, phone_number_id) }),
    ...(verify_token === null ? {} : { answerHandshake: createAnswerHandshake(verify_token) }),
  }
}

/** Without a plus, Meta takes a number for a local one of the business's own country. */
const withPlus = (number: string): string => (number.startsWith('+') ? number : `+${number}`)

function templateMessage({ code, delivery_id }: RenderedMessage, name: string, language: string): object {
  const parameters = [{ type: 'text', text: code }]
  const components = [
    { type: 'body', parameters },
    { type: 'button', sub_type: 'url', index: '0', parameters },
  ]
  return {
    type: 'template',
    template: { name, language: { policy: 'deterministic', code: language }, components },
    ...callbackData(delivery_id),
  }
}

/** Meta sends this back with each receipt, so that a receipt that arrives before Meta's answer is matched too. */
const callbackData = (delivery_id: string) => ({ biz_opaque_callback_data: delivery_id })

/** Meta documents a list. The first message is the one that its receipts are known by; receipts.ts ignores failures of the others. */
const ID = z
  .object({ messages: z.tuple([z.object({ id: z.string().min(1).max(1_000) })], z.unknown()) })
  .transform(({ messages: [{ id }] }) => id)
/** Meta's error codes have at most six digits. A longer number may be a recipient's and must not be logged. */
const ERROR_BODY = z.object({ error: z.object({ code: z.int().min(0).max(999_999) }) })

const codeOf = ({ json }: VendorResponse): string | undefined => ERROR_BODY.safeParse(json).data?.error.code.toString()

const accepted = (answer: VendorResponse, now: number): Accepted =>
  readAnswer(answer, now, { id: ID, code: codeOf(answer), errors: whatsapp_cloud.errors })

// What your endpoint is sent, how it checks a signature, and what happens while it fails.
import { defaultOf } from '../../../../infra/config/config.ts'
import { SECOND_MS } from '../../../../infra/time.ts'
import { sampleBlock, textBlock } from '../code-block.ts'
import { html, paragraphs, prose } from '../html.ts'
import { besides, heading, table } from '../layout.ts'
import { SIGNATURE_SAMPLES } from '../samples/signature.ts'
import type { Guide } from './guide.ts'
import { duration } from './limits.ts'

/** A test checks its signatures. */
export const SIGNED_EVENT = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"id":"evt_01hf7yat00w51rkfpywnvhmjvq","type":"otp.approved","payload":{"otp_id":"otp_01hf7y9jy02c5j477k4p3pnres","status":"approved"}}',
}

const WAITS = new Intl.ListFormat('en-GB').format(
  (defaultOf('WEBHOOK_BACKOFF') as number[]).map(ms => duration(ms / SECOND_MS)),
)

export const webhooks: Guide = {
  id: 'webhooks',
  name: 'Webhooks',
  about: 'What your endpoint is sent, and how it checks a signature.',
  keywords: 'callback, callbacks, notification, push, event delivery',
  screen: '/webhooks',
  render: ({ document, base }) => {
    const events = Object.entries(document.webhooks)
    const parameters = events[0]?.[1].post.parameters ?? []
    const headerLines = parameters.map(({ name, example }) => `${name}: ${example}`)
    return html`${besides(
      html`${paragraphs(
        'Countersign POSTs an event to the endpoint of your app when a verification or one of its messages reaches an end. Set the endpoint on the screen API Keys of the dashboard, or [over the admin API](#putWebhook).',
        'An app can have up to ten endpoints, on the screen Webhooks or [over the admin API](#createEndpoint): each with its own secret, the events that it asks for, and the payload `minimal` or `full`. Each is retried and paused by itself.',
        'Only https addresses that are public are called. For your own machine, start Countersign with `ALLOW_PRIVATE_TARGETS=127.0.0.0/8`.',
      )}
${table(
  ['Event', 'Happens when'],
  events.map(([type, { post }]) => ({
    cells: [html`<a href="#${post.operationId}"><code>${type}</code></a>`, html`${post.summary}.`],
  })),
)}
${heading(2, 'webhook-headers', 'Headers')}
<ul class="members">${parameters.map(
        ({ name, description }) =>
          html`<li id="webhook-headers.${name}"><div class="member"><code>${name}</code></div><p>${prose(description)}</p></li>`,
      )}</ul>`,
      html`${textBlock('An event', ['POST /hooks/countersign HTTP/1.1', 'Content-Type: application/json', ...headerLines, '', SIGNED_EVENT.body].join('\n'))}
<p class="hint">${prose(`Signed with the secret \`${SIGNED_EVENT.secret}\`: try your code with it.`)}</p>`,
    )}
${besides(
  html`${heading(2, 'webhook-signatures', 'Check the signature', 'signature, webhook signature, hmac, signing secret')}
<ol>
<li>${prose('**Take the raw body**, as bytes. JSON that was parsed and written again has another signature.')}</li>
<li>${prose('**Recompute** HMAC-SHA256 of `{timestamp}.{raw body}`, keyed with your secret as it stands, `whsec_` included. Compare in constant time.')}</li>
<li>${prose('**Refuse a stale timestamp**, more than five minutes off. Every attempt is signed anew, so a retry is never stale.')}</li>
<li>${prose('**Handle each event once.** It may come again with the same `id` and the same bytes: remember the `id`, and answer 2xx again.')}</li>
<li>${prose('**Answer 2xx soon**, within 15 seconds, and do the work afterwards.')}</li>
</ol>
<p>${prose('Our clients do the first three: `verifyWebhook(rawBody, headers, secret)` in TypeScript, `verify_webhook(raw_body, headers, secret)` in Python. The samples need no package. The headers `webhook-…` follow Standard Webhooks, so its libraries check our events as they are.')}</p>`,
  sampleBlock('Check a signature', SIGNATURE_SAMPLES, base),
)}
${heading(2, 'webhook-modes', 'Test or live')}
${paragraphs(
  'Both come to the same endpoint. The `id` of a test event begins with `evt_test_`, that of a live one never does. Decide by the `id`: it is in the signed body. `X-Webhook-Mode` says the same, but is not signed.',
)}
${heading(2, 'webhook-retries', 'When your endpoint fails', 'retry schedule, backoff, paused endpoint')}
${paragraphs(
  `An event is sent at once, then, by default, after ${WAITS}. Only 2xx counts as received; redirects are not followed.`,
  'The endpoint is paused when an event has used up its attempts, when it answers 410, and after 100 failures in a row without a success for an hour. Events are kept meanwhile. [Re-enable it](#enableWebhook) on the screen API Keys, and they come, oldest first. Single events or a range of time can be [sent again](#replayEvents).',
)}
${heading(2, 'webhook-rotation', 'Replacing the secret')}
${paragraphs(
  '[Make a new secret](#rotateWebhookSecret), give your endpoint both, then [promote](#promoteWebhookSecret) the new one: from then on it signs `X-Webhook-Signature`. Between the two calls, and for a day after, `webhook-signature` has a signature of each.',
)}`
  },
}

// From a test key to the first verified code, what the states mean, and the way of a device.
import type { OpenApiDocument } from '../../../../infra/openapi/document.ts'
import type { OtpStatus } from '../../../../machines/otp.ts'
import { type Base, jsonBlock, requestSample } from '../code-block.ts'
import { EMPTY_HTML, type Html, html, paragraphs, prose } from '../html.ts'
import { besides, heading, table } from '../layout.ts'
import type { SampleRequest } from '../samples/request.ts'
import type { Guide } from './guide.ts'

const RECIPIENT = '+15005550010'

/** An operation's example, so that the guide shows what its section shows. */
function exampleOf(document: OpenApiDocument, path: string, method: 'get' | 'post', name: string): unknown {
  const response = document.paths[path]?.[method]?.responses[200]
  if (response === undefined || '$ref' in response) return undefined
  return response.content?.['application/json']?.examples?.[name]?.value
}

const bodyOf = (document: OpenApiDocument, path: string): unknown =>
  document.paths[path]?.post?.requestBody?.content['application/json']?.example

const call = (path: string, body: unknown, token = 'SERVER_KEY'): SampleRequest => ({
  method: 'POST',
  path,
  token,
  body,
  answers: true,
})

const STATUSES: Record<OtpStatus, string> = {
  pending: 'The code is on its way, or the user has not entered it yet. The only state that can change.',
  approved: 'The user entered the right code, or their WhatsApp message approved it.',
  failed: 'The attempts were used up without the right code. Start another verification.',
  expired: 'The code was not entered in time. No event tells you so; the state does.',
  canceled: 'Your backend canceled it. Its code is dead.',
}

const sendStep = (document: OpenApiDocument, base: Base): Html =>
  besides(
    html`${heading(3, 'start-send', '1. Send a code')}${paragraphs(
      'A **send** names the recipient and nothing else: the channel follows from your [routing](#explainRoute). Keep the `otp_id` of the answer beside the session of your user.',
      'This recipient is a [magic one](#magic): with a test key its code arrives at once, in the sandbox.',
      'On your backend, add `client_ip`, the address of the user: sends without it share [a much tighter limit](#limits).',
    )}`,
    html`${requestSample('Send a code', call('/api/v1/otp/send', { recipient: RECIPIENT }), base)}
${jsonBlock('Answer', { ...object(exampleOf(document, '/api/v1/otp/send', 'post', 'sent')), masked_recipient: '+1****10' })}`,
  )

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const readStep = (document: OpenApiDocument, base: Base): Html => {
  const path = '/admin/v1/sandbox/messages'
  if (document.paths[path] === undefined) return EMPTY_HTML
  return besides(
    html`${heading(3, 'start-read', '2. Read it in the sandbox')}${paragraphs(
      'No answer ever contains the code. With a live key it is on the phone of the user. With a test key it is in the sandbox inbox: on the screen Try it of the dashboard, or over the admin API with an operator’s token.',
    )}`,
    requestSample(
      'Read the inbox',
      {
        method: 'GET',
        path: `${path}?recipient=${encodeURIComponent(RECIPIENT)}`,
        token: 'ADMIN_TOKEN',
        answers: true,
      },
      base,
    ),
  )
}

const verifyStep = (document: OpenApiDocument, base: Base): Html =>
  besides(
    html`${heading(3, 'start-verify', '3. Check it')}${paragraphs(
      'Pass on what the user typed. White space and hyphens do not matter. A wrong code is a state and not an error: `matched` is false and `attempts_left` counts down.',
      'Accept an `otp_id` once. A lost answer may be asked for again, so the same approval can reach you twice, by a repeated call or by a [webhook](#webhooks).',
    )}`,
    html`${requestSample('Check a code', call('/api/v1/otp/verify', bodyOf(document, '/api/v1/otp/verify')), base)}
${jsonBlock('Answer', exampleOf(document, '/api/v1/otp/verify', 'post', 'a right code'))}`,
  )

const deviceFlow = (document: OpenApiDocument, base: Base): Html =>
  besides(
    html`${heading(3, 'start-device', 'On a device: verify there, prove it here')}
<p>${prose('An app or a page can call `send` and `verify` itself, with a [publishable key](#authentication). What it then says about itself proves nothing, so it hands your backend a token:')}</p>
<ol>
<li>${prose('The device sends, and the user types the code there.')}</li>
<li>${prose('The device verifies with its publishable key, and gets a `verification_token`.')}</li>
<li>${prose('The device passes the token to your backend.')}</li>
<li>${prose('Your backend [exchanges](#exchange) it with a server key, and learns whom it proves. **This answer is the only proof.** A token is good for ten minutes and for one API key.')}</li>
</ol>
<p>${prose('In live mode an app must allow publishable keys to send (`publishable_send`), because anyone can read them.')}</p>`,
    html`${requestSample('On the device', call('/api/v1/otp/verify', bodyOf(document, '/api/v1/otp/verify'), 'PUBLISHABLE_KEY'), base)}
${requestSample('On your backend', call('/api/v1/verifications/exchange', bodyOf(document, '/api/v1/verifications/exchange')), base)}
${jsonBlock('Answer', exampleOf(document, '/api/v1/verifications/exchange', 'post', 'exchanged'))}`,
  )

const linkModes = paragraphs(
  'Where routing chooses WhatsApp in one of its link modes, nothing is sent. The answer has an `action_url` (a `wa.me` link) for the user to open. `completion` says what follows: with `code`, a code comes back in the chat and you verify it as ever; with `inbound`, the message of the user approves by itself, there is no verify call, and [`otp.approved`](#onOtpApproved) tells your backend.',
)

export const gettingStarted: Guide = {
  id: 'start',
  name: 'Getting started',
  render: ({ document, base }) => html`${heading(2, 'start', 'Getting started')}
<p>${prose('All you need is a test key (`sk_test_…`). The first start prints one; the screen API Keys of the dashboard makes more. The samples read keys from the environment:')}</p>
<div class="code" role="group" aria-label="Environment"><div class="code-head"><span class="code-title">Environment</span></div>
<pre tabindex="0"><code>export SERVER_KEY=sk_test_…
export PUBLISHABLE_KEY=pk_test_…
export ADMIN_TOKEN=…</code></pre></div>
${sendStep(document, base)}
${readStep(document, base)}
${verifyStep(document, base)}
${heading(3, 'start-statuses', 'What a status means')}
${table(
  ['Status', 'Meaning'],
  Object.entries(STATUSES).map(([status, meaning]) => ({
    id: `status-${status}`,
    cells: [html`<code>${status}</code>`, prose(meaning)],
  })),
)}
<p>${prose('[Look a verification up](#status) to see how far it got and what became of each message. To be told, set up [webhooks](#webhooks). If the code does not come, [send it again](#resend): after a cooldown the same code goes out on the next channel.')}</p>
${deviceFlow(document, base)}
${heading(3, 'start-links', 'WhatsApp links')}
${linkModes}`,
}

// From a test key to the first verified code, and what the states mean.
import type { OpenApiDocument } from '../../../../infra/openapi/document.ts'
import type { OtpStatus } from '../../../../machines/otp.ts'
import { type Base, jsonBlock, requestSample, textBlock } from '../code-block.ts'
import { EMPTY_HTML, type Html, html, paragraphs, prose } from '../html.ts'
import { besides, heading, table } from '../layout.ts'
import { bodyOf, call, exampleOf } from './examples.ts'
import type { Guide } from './guide.ts'

const RECIPIENT = '+15005550010'

const ENVIRONMENT = `export SERVER_KEY=sk_test_…
export PUBLISHABLE_KEY=pk_test_…
export ADMIN_TOKEN=…`

const STATUSES: Record<OtpStatus, string> = {
  pending: 'The code is on its way, or the user has not entered it yet. The only state that can change.',
  approved: 'The user entered the right code, or their WhatsApp message approved it.',
  failed: 'The attempts were used up without the right code. Start another verification.',
  expired:
    'The code was not entered in time. The state tells you so; an event, `otp.expired`, only where your endpoint asks for it.',
  canceled: 'Your backend canceled it. Its code is dead.',
}

const sendStep = (document: OpenApiDocument, base: Base): Html =>
  besides(
    html`${heading(2, 'start-send', '1. Send a code')}${paragraphs(
      'A **send** names the recipient and nothing else: the channel follows from your [routing](#explainRoute). Keep the `otp_id` of the answer beside the session of your user.',
      'This recipient is a [magic one](#magic): with a test key its code arrives at once, in the sandbox.',
      'On your backend, add `client_ip`, the address of the user: sends without it share [a much tighter limit](#limits).',
    )}`,
    html`${requestSample('Send a code', call('/api/v1/otp/send', { recipient: RECIPIENT }), base)}
${jsonBlock('Answer', { ...object(exampleOf(document, '/api/v1/otp/send', 'sent')), masked_recipient: '+1****10' })}`,
  )

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const readStep = (document: OpenApiDocument, base: Base): Html => {
  const path = '/admin/v1/sandbox/messages'
  if (document.paths[path] === undefined) return EMPTY_HTML
  return besides(
    html`${heading(2, 'start-read', '2. Read it in the sandbox')}${paragraphs(
      'No answer ever contains the code. With a live key it is on the phone of the user. With a test key it is in the sandbox inbox: on the screen [Try it](/try) of the dashboard, or over the admin API with an operator’s token.',
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
    html`${heading(2, 'start-verify', '3. Check it')}${paragraphs(
      'Pass on what the user typed. White space and hyphens do not matter. A wrong code is a state and not an error: `matched` is false and `attempts_left` counts down.',
      'Accept an `otp_id` once. A lost answer may be asked for again, so the same approval can reach you twice, by a repeated call or by a [webhook](#webhooks).',
    )}`,
    html`${requestSample('Check a code', call('/api/v1/otp/verify', bodyOf(document, '/api/v1/otp/verify')), base)}
${jsonBlock('Answer', exampleOf(document, '/api/v1/otp/verify', 'a right code'))}`,
  )

const linkModes = paragraphs(
  'Where routing chooses WhatsApp in one of its link modes, nothing is sent. The answer has an `action_url` (a `wa.me` link) for the user to open. `completion` says what follows: with `code`, a code comes back in the chat and you verify it as ever; with `inbound`, the message of the user approves by itself, there is no verify call, and [`otp.approved`](#onOtpApproved) tells your backend.',
)

export const gettingStarted: Guide = {
  id: 'start',
  name: 'Getting started',
  about: 'From a test key to the first verified code.',
  keywords:
    'otp, one-time password, one-time code, quick start, tutorial, introduction, 2fa, mfa, passcode, examples, curl, sdk',
  screen: '/try',
  render: ({
    document,
    base,
  }) => html`<p>${prose('All you need is a test key (`sk_test_…`). The first start prints one; the screen [API Keys](/api-keys) of the dashboard makes more. The samples read keys from the environment:')}</p>
${textBlock('Environment', ENVIRONMENT)}
<p>${prose('Samples of the client API in TypeScript and Python use our clients, which are in the repository: `npm pack ./clients/typescript` makes a package for `npm install`, and `pip install ./clients/python` installs the other. Others call the API by itself, and so can you, in any language.')}</p>
${sendStep(document, base)}
${readStep(document, base)}
${verifyStep(document, base)}
${heading(2, 'start-statuses', 'What a status means')}
${table(
  ['Status', 'Meaning'],
  Object.entries(STATUSES).map(([status, meaning]) => ({
    id: `status-${status}`,
    cells: [html`<code>${status}</code>`, prose(meaning)],
  })),
)}
<p>${prose('[Look a verification up](#status) to see how far it got and what became of each message. To be told, set up [webhooks](#webhooks). If the code does not come, [send it again](#resend): after a cooldown the same code goes out on the next channel.')}</p>
<p>${prose('An app or a page can send and verify by itself: see [publishable keys](#publishable-keys).')}</p>
${heading(2, 'start-links', 'WhatsApp links', 'whatsapp, wa.me')}
${linkModes}`,
}

// What an app or a page does with a publishable key, which pages may, and what a page that may not is told.
import type { OpenApiDocument } from '../../../../infra/openapi/document.ts'
import { type Base, jsonBlock, programBlock, requestSample } from '../code-block.ts'
import { type Html, html, paragraphs, prose } from '../html.ts'
import { besides, heading } from '../layout.ts'
import { bodyOf, call, exampleOf, refusalOf } from './examples.ts'
import type { Guide } from './guide.ts'

const deviceFlow = (document: OpenApiDocument, base: Base): Html =>
  besides(
    html`${heading(2, 'start-device', 'On a device: verify there, prove it here')}
<p>${prose('An app or a page can call `send` and `verify` itself. What it then says about itself proves nothing, so it hands your backend a token:')}</p>
<ol>
<li>${prose('The device sends, and the user types the code there.')}</li>
<li>${prose('The device verifies with its publishable key, and gets a `verification_token`.')}</li>
<li>${prose('The device passes the token to your backend.')}</li>
<li>${prose('Your backend [exchanges](#exchange) it with a server key, and learns whom it proves. **This answer is the only proof.** A token is good for ten minutes and for one API key.')}</li>
</ol>`,
    html`${requestSample('On the device', call('/api/v1/otp/verify', bodyOf(document, '/api/v1/otp/verify'), 'PUBLISHABLE_KEY'), base)}
${requestSample('On your backend', call('/api/v1/verifications/exchange', bodyOf(document, '/api/v1/verifications/exchange')), base)}
${jsonBlock('Answer', exampleOf(document, '/api/v1/verifications/exchange', 'exchanged'))}`,
  )

const READ_REFUSAL = `const response = await fetch(url, request)
const answer = await response.json()
if (answer.type === 'OriginNotAllowedError')
  console.error(\`Add \${location.origin} to the allowed origins of the app.\`)`

const origins = html`${heading(2, 'origins', 'Web pages and their origins', 'cors, cross-origin, preflight, access-control-allow-origin, browser')}
${paragraphs(
  'A browser shows a page of another origin only those answers that name the origin of the page (CORS). The calls that take a publishable key answer every preflight, so a page may always call. It may read the answer if the app allows its origin: `allowed_origins` lists them, on the screen [Settings](/settings) of the dashboard or [over the admin API](#changeApp). An empty list, the default, allows every page.',
  'Write an origin as browsers send it: scheme, host and port, and nothing after them. `https://shop.example` is neither `https://www.shop.example` nor `https://shop.example/`. There are no wildcards. Origins begin with https, except on your own machine: `http://localhost:5173`. A page from a file or in a sandboxed frame has the origin `null`, which cannot be listed.',
  'Apps and programs send no origin, so the list does not affect them. It keeps your key off other people’s pages; [limits](#limits) and [challenges](#challenges) hold against everyone else.',
)}`

const refusedOrigin = (document: OpenApiDocument): Html =>
  besides(
    html`${heading(2, 'refused-origin', 'When a page is refused', 'blocked by cors policy, cors error, failed to fetch, no access-control-allow-origin header')}
${paragraphs(
  'A page that the list does not name gets 403 [`OriginNotAllowedError`](#error-OriginNotAllowedError), and nothing is done. The page can read this answer, and no other: its headers name that origin. Add the origin to the list; within five seconds every process knows it.',
  'If the browser says instead that CORS blocked the answer, or `Failed to fetch`, one of these is the cause:',
)}
<ul>
<li>${prose('The page used a **server key**. Its answers name no origin, because it must not be in a page. Revoke it, and use a publishable key.')}</li>
<li>${prose('The call is one for backends: [cancel](#cancel), [exchange](#exchange) or the admin API.')}</li>
<li>${prose('Another server answered: a proxy with an error page of its own, or a wrong address. Look at the answer in the network panel of the browser: ours have `X-Request-Id`.')}</li>
<li>${prose('A page with https called an address without it.')}</li>
</ul>`,
    html`${jsonBlock('The answer to a page that is not listed', refusalOf(document, '/api/v1/otp/send', 403, 'OriginNotAllowedError'))}
${programBlock('Read it in the page', READ_REFUSAL)}`,
  )

export const publishableKeys: Guide = {
  id: 'publishable-keys',
  name: 'Publishable keys',
  about: 'Verification by an app or a web page: tokens, origins, CORS.',
  keywords: 'pk, client side, frontend, mobile app, web page, javascript, device',
  screen: '/settings',
  render: ({ document, base }) => html`${paragraphs(
    'A publishable key (`pk_live_…`, `pk_test_…`) is for apps and web pages. Anyone can read it there, so it may do little: [send](#send), [send again](#resend), [verify](#verify) and [look up](#status) verifications of its own app. In live mode it sends only where the app allows it (`publishable_send`), and a send that looks risky must solve [a challenge](#challenges) first.',
  )}
${deviceFlow(document, base)}
${origins}
${refusedOrigin(document)}`,
}

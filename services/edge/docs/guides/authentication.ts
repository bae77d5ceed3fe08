// The kinds of keys and tokens, and what each may do.
import { html, paragraphs, prose } from '../html.ts'
import { heading, table } from '../layout.ts'
import type { Guide } from './guide.ts'

const KEYS: readonly { id: string; name: string; begins: string; about: string }[] = [
  {
    id: 'server',
    name: 'Server key',
    begins: '`sk_live_…`, `sk_test_…`',
    about: 'May make every call of the client API. It stays on your backend.',
  },
  {
    id: 'publishable',
    name: 'Publishable key',
    begins: '`pk_live_…`, `pk_test_…`',
    about:
      'For apps and web pages: send, resend, verify and status, of verifications of its own app. It gives no `client_ip`: the address of the connection counts. In live mode it sends only where the app allows it, and in pages only from the origins that the app lists.',
  },
  {
    id: 'operator',
    name: 'Operator’s token',
    begins: '`ADMIN_TOKEN`',
    about:
      'May make every call of the admin API, in every company. Ten wrong tokens a minute from one address are too many.',
  },
  {
    id: 'session',
    name: 'Session',
    begins: 'a cookie, after [sign-in](#signIn)',
    about:
      'A user of the dashboard, for twelve hours and not longer than two without use, in one company and with one role: `viewer` reads, `developer` also changes apps, keys, providers and webhooks, `owner` also the team and the company. A change needs the header `X-CSRF-Token` and the `Origin` of this address as well.',
  },
]

export const authentication: Guide = {
  id: 'authentication',
  name: 'Authentication',
  about: 'The kinds of keys and tokens, and what each may do.',
  keywords: 'api key, bearer token, authorization header, secret key, credentials, login',
  screen: '/api-keys',
  render: () => html`${paragraphs(
    'Every call says who makes it: `Authorization: Bearer <key>`. A key that is missing, unknown, revoked or of the wrong kind is refused with 401. Each operation below says who may call it.',
  )}
${table(
  ['Kind', 'Begins with', 'What it may do'],
  KEYS.map(({ id, name, begins, about }) => ({
    id: `key-${id}`,
    cells: [html`${name}`, prose(begins), prose(about)],
  })),
)}
${heading(2, 'modes', 'Live and test')}
${paragraphs(
  'Live and test are two worlds. A live key reaches people and costs money. A test key costs nothing, and its messages go to the sandbox. Verifications, limits, idempotency keys and tokens of one world do not exist in the other.',
  'A key is shown once, when it is made; only a hash of it is stored. A revoked key is refused within five seconds.',
)}`,
}

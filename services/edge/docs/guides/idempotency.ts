// How a send is repeated without a second code.
import { requestSample } from '../code-block.ts'
import { html, paragraphs } from '../html.ts'
import { besides } from '../layout.ts'
import type { Guide } from './guide.ts'

export const idempotency: Guide = {
  id: 'idempotency',
  name: 'Idempotency',
  about: 'How a send is repeated without a second code.',
  keywords: 'idempotency-key, retry, retries, duplicate, twice, safe to repeat',
  render: ({ base }) =>
    html`${besides(
      paragraphs(
        'Give each send an `idempotency-key` of at most 128 characters, such as the id of a sign-up. A repeat with the same key gets the first answer, with the header `Idempotent-Replayed: true`, and sends no second code, so a lost answer or a 503 is safe to repeat.',
        'The key alone counts: a repeat that names another recipient gets the verification of the first one. Make a new key for each verification.',
        'A key counts within your company, for one mode and one kind of API key, for 24 hours by default. A refused send leaves its key free. Calls at the same time with one key make one verification, and all get its answer; all but the one that made it are replays.',
        'All devices of a company share the idempotency keys of its publishable keys, so a device must use one that cannot be guessed (a random UUID).',
        'The other calls need none. A verify may be repeated for 60 seconds, a cancel always, an exchange while its token lives and with the same API key. [Crediting a company](#creditCompany) takes an `idempotency-key` too.',
      ),
      requestSample(
        'A send that is safe to repeat',
        {
          method: 'POST',
          path: '/api/v1/otp/send',
          token: 'SERVER_KEY',
          headers: { 'idempotency-key': 'sign-up-4711' },
          body: { recipient: '+15005550010' },
          answers: true,
        },
        base,
      ),
    )}`,
}

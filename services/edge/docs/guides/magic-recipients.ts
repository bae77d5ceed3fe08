// The recipients with a fixed outcome, for tests.
import { errorAnchor } from '../../../../infra/http/problem.ts'
import { MAGIC_RECIPIENTS, type Magic, SCENARIOS } from '../../../../machines/magic-recipients.ts'
import { type Html, html, paragraphs, prose } from '../html.ts'
import { table } from '../layout.ts'
import type { Guide } from './guide.ts'

const outcome = (magic: Magic): Html =>
  'refuses' in magic
    ? html`Refused with <a href="#${errorAnchor(magic.refuses)}"><code>${magic.refuses}</code></a>.`
    : prose(`${SCENARIOS[magic.scenario]}.`)

export const magicRecipients: Guide = {
  id: 'magic',
  name: 'Magic recipients',
  about: 'Test numbers and addresses with a fixed outcome.',
  keywords: 'test number, test numbers, test recipient, fake number, sandbox, simulate',
  screen: '/try',
  render: () => html`${paragraphs(
    'With a test key these recipients have a fixed fate, so that you can try every error and every receipt. Each is a number and an address. They skip the limits per recipient. With a live key they are recipients like any other.',
  )}
${table(
  ['Number', 'Address', 'Outcome'],
  MAGIC_RECIPIENTS.map(([number, name, magic]) => ({
    id: `magic-${name}`,
    cells: [html`<code>${number}</code>`, html`<code>${name}@magic.test</code>`, outcome(magic)],
  })),
)}
${paragraphs(
  'Any other recipient works with a test key too: its message goes to the sandbox, and its receipt follows within a second. To finish a WhatsApp link in the sandbox, [play the message of the user](#playSandboxMessage).',
)}`,
}

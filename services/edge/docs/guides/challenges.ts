// What a challenge is, and how a page solves one.
import { CHALLENGE_LIFE_MS, EASIEST_DIFFICULTY, HARDEST_DIFFICULTY } from '../../../../machines/challenge.ts'
import { programBlock } from '../code-block.ts'
import { html, paragraphs } from '../html.ts'
import { CHALLENGE_SAMPLE } from '../samples/challenge.ts'
import type { Guide } from './guide.ts'

export const challenges: Guide = {
  id: 'challenges',
  name: 'Challenges',
  about: 'How a page proves that it is no flood.',
  keywords: 'captcha, bot, bots, proof of work, pow, puzzle',
  screen: '/limits',
  render: () => html`${paragraphs(
    'Anyone can read a publishable key. So a send or resend with one may be refused with 403 `ChallengeRequiredError` and a `challenge`: find a `nonce`, a decimal number of at most 16 digits, for which SHA-256 of `<salt>.<nonce>` begins with `difficulty` zero bits, and repeat the call with the header `challenge-solution: <salt>.<nonce>.<signature>`. A person hardly notices it; a script that sends thousands pays for each, though a graphics card solves the hardest in milliseconds.',
    `A solution is good for ${CHALLENGE_LIFE_MS / 60_000} minutes and once, with the same key, for the same recipient, or on resend for the same \`otp_id\`. A call that is refused for another reason leaves it good. It counts only at the difficulty that would be asked for now, less two bits. One that is wrong, late, used, too easy or of another call gets the same 403 with a new challenge. A repeat with an \`idempotency-key\` that has its verification needs none. Server keys are never asked.`,
    `The app’s setting \`publishable_challenge\` says when: \`off\`, \`risk\` (a live send that looks risky; the default where publishable keys may send) or \`always\` (with test keys too, so that you can try it). The difficulty is ${EASIEST_DIFFICULTY} to ${HARDEST_DIFFICULTY} bits, which is about 50 milliseconds to 20 seconds in a desktop browser: the code below tries some 1.5 million nonces a second in Chromium. \`crypto.subtle\` is forty times slower at this.`,
    'An app may have the widget of a vendor in place of work (its setting `challenge.by`: `turnstile` or `hcaptcha`). Then `challenge` is `{type, site_key}`: show the widget in a page of an origin that the app lists, and repeat the call with its token in `challenge-solution`. A token is good for one call. Where the vendor is silent, a proof of work is asked for instead. Our TypeScript client and the element solve all of them.',
  )}
${programBlock('Solve a challenge in a page', CHALLENGE_SAMPLE)}`,
}

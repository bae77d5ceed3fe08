// Faults in what others install.
import type { Mutant } from './mutant.ts'

const CLIENT = ['test/clients/typescript.test.ts']
const EXAMPLE = ['test/docs/nextjs-example.test.ts']
const EDGE = ['test/services/edge/element.test.ts']

export const CLIENTS: readonly Mutant[] = [
  {
    fault: 'a repeated send has no idempotency key, so a lost answer sends a second code',
    file: 'clients/typescript/src/client.ts',
    original: "return { 'idempotency-key': key }",
    planted: "return { 'x-request-id': key }",
    tests: CLIENT,
  },
  {
    fault: 'a verify whose answer was lost is repeated, and a wrong code spends two attempts',
    file: 'clients/typescript/src/client.ts',
    original: "this.#call({ path: '/otp/verify', body, repeats: 'unexecuted' }, options)",
    planted: "this.#call({ path: '/otp/verify', body, repeats: 'always' }, options)",
    tests: CLIENT,
  },
  {
    fault: 'a resend that may have been executed is repeated',
    file: 'clients/typescript/src/client.ts',
    original: 'error.executed !== false',
    planted: 'error.executed === true',
    tests: CLIENT,
  },
  {
    fault: 'the lost answer of a right code is not asked for again',
    file: 'clients/typescript/src/client.ts',
    original: "({ status }) => status === 'approved'",
    planted: "({ status }) => status === 'pending'",
    tests: CLIENT,
  },
  {
    fault: 'a call that the server refused is repeated',
    file: 'clients/typescript/src/client.ts',
    original: 'error.status >= 500',
    planted: 'error.status >= 400',
    tests: CLIENT,
  },
  {
    fault: 'a redirect leads a client with recipient and key to another server',
    file: 'clients/typescript/src/request.ts',
    original: "redirect: 'manual'",
    planted: "redirect: 'follow'",
    tests: CLIENT,
  },
  {
    fault: 'a client repeats calls without a budget, so an outage multiplies the load',
    file: 'clients/typescript/src/retries.ts',
    original: 'left -= 1',
    planted: 'left -= 0',
    tests: CLIENT,
  },
  {
    fault: 'a webhook of any age is accepted',
    file: 'clients/typescript/src/webhook.ts',
    original: 'if (!(age <= toleranceSeconds))',
    planted: 'if (age > toleranceSeconds + 1e9)',
    tests: CLIENT,
  },
  {
    fault: 'a webhook with any signature is accepted',
    file: 'clients/typescript/src/webhook.ts',
    original: 'signatures.map(signature => crypto.subtle.verify',
    planted: 'signatures.map(async signature => signature.length > 0 || crypto.subtle.verify',
    tests: CLIENT,
  },
  {
    fault: 'a page of another origin may not load the element with its hash',
    file: 'services/edge/element.ts',
    original: "ctx.set('Access-Control-Allow-Origin', '*')",
    planted: "ctx.vary('Origin')",
    tests: EDGE,
  },
  {
    fault: 'a language with a region is not found, so the element speaks English',
    file: 'clients/web/texts.ts',
    original: 'subtags.length - dropped',
    planted: 'subtags.length - 0 * dropped',
    tests: EDGE,
  },
  {
    fault: 'the documented route handler accepts a verification twice',
    file: 'docs/examples/nextjs/app/api/verify/check/route.ts',
    original: "if (!started.delete(visitor)) return refuse(409, 'Start again.')",
    planted: "if (!started.has(visitor)) return refuse(409, 'Start again.')",
    tests: EXAMPLE,
  },
  {
    fault: 'the documented route handler handles an event each time that it comes',
    file: 'docs/examples/nextjs/app/api/webhooks/route.ts',
    original: 'handling.get(event.id) ?? handle(event)',
    planted: 'handle(event)',
    tests: EXAMPLE,
  },
]

// How a receiver on Node checks the signature of an event: one text, shown on the reference page and in the dashboard, and part of
// docs/examples/webhook-receiver.mjs. Tests run all three. The order of the parameters is the one of our clients.

const nodeSample = (
  parameters: string,
  returns: string,
): string => `import { createHmac, timingSafeEqual } from 'node:crypto'

/** \`rawBody\` is the body as it came, before any JSON parser. */
export function isGenuine(${parameters})${returns} {
  const timestamp = headers['x-webhook-timestamp'] ?? ''
  const signature = Buffer.from(headers['x-webhook-signature'] ?? '', 'hex')
  const expected = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(rawBody).digest()
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
  return isFresh && signature.length === expected.length && timingSafeEqual(signature, expected)
}`

export const JAVASCRIPT_SIGNATURE_SAMPLE = nodeSample('rawBody, headers, secret', '')

export const TYPESCRIPT_SIGNATURE_SAMPLE = nodeSample(
  'rawBody: Buffer, headers: Record<string, string | undefined>, secret: string',
  ': boolean',
)

// A program that checks the signature of an event, as the screen shows it to developers. A test runs it.

export const VERIFY_SAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto'

// rawBody: the bytes as they came, before any parsing
export function isGenuine(rawBody, headers, secret) {
  const timestamp = headers['x-webhook-timestamp']
  const given = Buffer.from(headers['x-webhook-signature'] ?? '', 'hex')
  const signed = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(rawBody).digest()
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300
  return isFresh && given.length === signed.length && timingSafeEqual(given, signed)
}`

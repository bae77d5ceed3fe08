// Receives webhooks of Countersign. Plain Node, no dependency: copy it, and put your work into `handle`.
//   WEBHOOK_SECRETS=whsec_… PORT=8080 node webhook-receiver.mjs
// Several secrets, separated by commas, are all accepted: give both while you replace one.
import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import process from 'node:process'

const SECRETS = (process.env.WEBHOOK_SECRETS ?? '').split(',').filter(Boolean)
/** Older ones may have been recorded by somebody else and sent again. */
const TOLERANCE_SECONDS = 300
const MOST_BYTES = 100_000

/** Is this body, byte for byte, what somebody who knows a secret of ours sent, and did so just now? */
function isGenuine(headers, rawBody) {
  const timestamp = String(headers['x-webhook-timestamp'])
  const signature = String(headers['x-webhook-signature'])
  if (!/^\d{1,12}$/.test(timestamp) || !/^[0-9a-f]{64}$/.test(signature)) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false
  return SECRETS.some(secret => {
    const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest()
    // Takes as long wherever they differ: a comparison by === tells how much of a forgery is right.
    return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
  })
}

/** Events that were taken already. Yours live in your database, under a unique index, written together with what they cause. */
const taken = new Set()

/** Your work. Be quick: put it into a queue, and do it after the answer. */
function handle(event) {
  process.stdout.write(`${event.type} ${JSON.stringify(event.payload)}\n`)
}

async function receive(request, response) {
  const answer = status => response.writeHead(status).end()
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MOST_BYTES) return answer(413)
    chunks.push(chunk)
  }
  // The raw bytes: JSON that was parsed and written again has another signature.
  const rawBody = Buffer.concat(chunks)
  if (!isGenuine(request.headers, rawBody)) return answer(401)
  const event = JSON.parse(rawBody.toString())
  // The id in the body, which is signed. An event comes again when your answer was late or lost: that is no fault, so 2xx.
  if (!taken.has(event.id)) {
    taken.add(event.id)
    handle(event)
  }
  answer(204)
}

// Whoever hangs up within a request must not end the process.
const server = createServer((request, response) => receive(request, response).catch(() => response.destroy()))

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`listening on port ${server.address().port}\n`)
})

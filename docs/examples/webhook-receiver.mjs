// Receives webhooks from Countersign. In: a signed event. Out: 204 once the event is accepted. Plain Node, no dependencies: copy it, and put
// your work into `handle`.
//   WEBHOOK_SECRETS=whsec_… PORT=8080 node webhook-receiver.mjs
// Separate several secrets by commas. All of them are accepted: give both while you replace one.
import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import process from 'node:process'

const SECRETS = (process.env.WEBHOOK_SECRETS ?? '').split(',').filter(Boolean)
const MAX_BODY_BYTES = 100_000

/** `rawBody` is the body as it came, before any JSON parser. */
export function isGenuine(rawBody, headers, secret) {
  const timestamp = headers['x-webhook-timestamp'] ?? ''
  const signature = Buffer.from(headers['x-webhook-signature'] ?? '', 'hex')
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest()
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
  return isFresh && signature.length === expected.length && timingSafeEqual(signature, expected)
}

/** The work for each event, by the event's id. Keep the ids in your database under a unique index, written together with what the event causes. */
const handling = new Map()

/** Whether a test key caused the event. The id is signed; the header x-webhook-mode, which says the same, is not. */
const isTest = event => event.id.startsWith('evt_test_')

/** Your work. Be quick: put the event into a queue, and process it after the response. */
async function handle(event) {
  process.stdout.write(`${isTest(event) ? 'test' : 'live'} ${event.type} ${JSON.stringify(event.payload)}\n`)
}

async function handleOnce(event) {
  // An event that comes again meanwhile waits for the same work.
  const work = handling.get(event.id) ?? handle(event)
  handling.set(event.id, work)
  try {
    await work
  } catch (error) {
    // It comes again, and must not count as handled.
    handling.delete(event.id)
    throw error
  }
}

async function receive(request, response) {
  const respond = status => response.writeHead(status).end()
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return respond(413)
    chunks.push(chunk)
  }
  // The signature is over the raw bytes: JSON that was parsed and serialized again has another signature.
  const rawBody = Buffer.concat(chunks)
  if (!SECRETS.some(secret => isGenuine(rawBody, request.headers, secret))) return respond(401)
  const event = JSON.parse(rawBody.toString())
  // Use the id in the body, because the body is signed. If your response was late or lost, the event comes again: respond with 2xx again.
  await handleOnce(event)
  respond(204)
}

// A client that closes the connection during a request must not end the process. Nor must a `handle` that fails: without a response the
// event comes again.
const server = createServer((request, response) =>
  receive(request, response).catch(error => {
    process.stderr.write(`${error}\n`)
    response.destroy()
  }),
)

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`listening on port ${server.address().port}\n`)
})

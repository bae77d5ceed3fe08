// POST /api/webhooks: receives webhooks from Countersign. In: a signed event. Out: 204 once the event is accepted.
// Separate several secrets in WEBHOOK_SECRETS by commas. All of them are accepted: give both while you replace one.
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from 'countersign'

const SECRETS = (process.env.WEBHOOK_SECRETS ?? '').split(',')
const MAX_BODY_BYTES = 100_000

/** The work for each event, by the event's id. Keep the ids in your database under a unique index, written together
 *  with what the event causes. */
const handling = new Map<string, Promise<void>>()

/** Your work. Be quick: put the event into a queue, and process it after the response. */
async function handle(event: WebhookEvent): Promise<void> {
  // The id is signed; the header x-webhook-mode, which says the same, is not.
  console.log(event.id.startsWith('evt_test_') ? 'test' : 'live', event.type, JSON.stringify(event.payload))
}

async function handleOnce(event: WebhookEvent): Promise<void> {
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

export async function POST(request: Request): Promise<Response> {
  // Countersign always says how long the body is.
  const length = Number(request.headers.get('content-length') ?? Number.NaN)
  if (!(length <= MAX_BODY_BYTES)) return new Response(null, { status: 413 })
  try {
    // The signature is over the raw bytes: JSON that was parsed and serialized again has another signature.
    const event = await verifyWebhook(await request.arrayBuffer(), request.headers, SECRETS)
    // If your response was late or lost, the event comes again: respond with 2xx again.
    await handleOnce(event)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(null, { status: 401 })
    throw error
  }
}

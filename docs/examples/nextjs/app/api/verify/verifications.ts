// Sign-up with a verified phone number or email address, as route handlers of Next.js: start/route.ts and check/route.ts. This is what both
// need: the client, the verifications that are under way, and the answer to an error. Copy app/ into your app, and
// install the package countersign: docs/clients.md says how.
//   COUNTERSIGN_URL=http://localhost:3000 COUNTERSIGN_KEY=sk_test_… npx next dev --port 8080
import { Countersign, CountersignError } from 'countersign'

let client: Countersign | undefined
/** Made at the first call, because `next build` loads this file too, and needs no key. */
export function countersign(): Countersign {
  const { COUNTERSIGN_KEY = '', COUNTERSIGN_URL = '' } = process.env
  client ??= new Countersign({ key: COUNTERSIGN_KEY, baseUrl: COUNTERSIGN_URL })
  return client
}

interface Started {
  otp_id: string
  recipient: string
}

// Next.js may load this file once for each route, so the map is global. It is lost when the process ends: keep yours in your session store.
const shared = globalThis as { started?: Map<string, Started> }
shared.started ??= new Map()
/** By the visitor's cookie. */
export const started = shared.started

/** A body that is not JSON lacks every member, and Countersign says which one is needed. */
export const readBody = async (request: Request) => (await request.json().catch(() => null)) ?? {}

export const refuse = (status: number, detail: string, headers: Record<string, string> = {}): Response =>
  Response.json({ detail }, { status, headers })

/** Says what the visitor can change; the rest is for your log. */
export function refuseError(error: unknown): Response {
  if (!(error instanceof CountersignError)) throw error
  const { type, status, message, retry_after, request_id } = error
  if ([409, 410, 422, 429].includes(status))
    return refuse(status, message, retry_after ? { 'retry-after': String(retry_after) } : {})
  console.error(type, message, request_id)
  return refuse(503, 'Codes cannot be sent at the moment.')
}

// The outside of a live send. A vendor, POST /messages: accepts each message at once and reports it as delivered a little later. GET /codes
// answers the codes by recipient, each once, as their users know them. The app's backend, POST /events: takes each event; GET /events
// answers how many came. PUT /receipts says where the vendor sends its receipts.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { Agent, request } from 'undici'
import { signatureHeaders } from '../../services/domain/webhooks/signed-event.ts'

const RECEIPT_AFTER_MS = 1_000
const { VENDOR_SECRET = '' } = process.env
const dispatcher = new Agent({ connections: 32 })
let receiptsUrl = ''
let events = 0
let codes: Record<string, string> = {}

/** A receipt that is refused ends this process, so that the bench does not measure sends without one. */
async function sendReceipt(delivery_id: string): Promise<void> {
  const body = JSON.stringify({ delivery_id, status: 'delivered' })
  const signature = signatureHeaders({ id: delivery_id, body, at: Date.now(), secrets: [VENDOR_SECRET] })
  const headers = { 'content-type': 'application/json', ...signature }
  const answer = await request(receiptsUrl, { method: 'POST', headers, body, dispatcher })
  await answer.body.dump()
  if (answer.statusCode >= 300) throw new Error(`the receipt was answered ${answer.statusCode}`)
}

async function answer(message: IncomingMessage): Promise<string> {
  const body = await text(message)
  if (message.url === '/codes') return takeCodes()
  if (message.method === 'GET') return String(events)
  if (message.method === 'PUT') receiptsUrl = body
  else if (message.url === '/events') events += 1
  else accept(JSON.parse(body))
  return '{}'
}

function accept({ delivery_id, recipient, code }: Record<string, string>): void {
  codes[recipient ?? ''] = code ?? ''
  setTimeout(() => void sendReceipt(delivery_id ?? ''), RECEIPT_AFTER_MS)
}

function takeCodes(): string {
  const taken = JSON.stringify(codes)
  codes = {}
  return taken
}

const server = createServer((message, response) => void answer(message).then(told => response.end(told)))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})

// A sign-up page whose visitors prove their number or address with <countersign-verify>. The page gets a token. This backend exchanges it
// with a server key, and only that answer is proof.
//   npm install ../path/to/countersign-0.2.0.tgz    (docs/clients.md says how it is made)
//   COUNTERSIGN_URL=http://localhost:3000 SERVER_KEY=sk_test_… PUBLISHABLE_KEY=pk_test_… node server.mjs
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { Countersign, CountersignError } from 'countersign'

const { COUNTERSIGN_URL = 'http://localhost:3000', SERVER_KEY = '', PUBLISHABLE_KEY = '', PORT = '8080' } = process.env
const countersign = new Countersign({ key: SERVER_KEY, baseUrl: COUNTERSIGN_URL })
const page = readFileSync(new URL('index.html', import.meta.url), 'utf8')
  .replace('{{countersign}}', COUNTERSIGN_URL)
  .replace('{{publishable_key}}', PUBLISHABLE_KEY)

const MAX_BODY_BYTES = 100_000

/** Accept each verification once. Keep yours in your database, under a unique index. */
const used = new Set()

async function signUp(request, respond) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return respond(413, 'The form is too large.')
    chunks.push(chunk)
  }
  const token = new URLSearchParams(Buffer.concat(chunks).toString()).get('token') ?? ''
  const { otp_id, recipient } = await countersign.exchange({ verification_token: token })
  if (used.has(otp_id)) return respond(409, 'This verification was used before.')
  used.add(otp_id)
  respond(200, `Welcome! You control ${recipient}.`)
}

async function answer(request, response) {
  const respond = (status, text, type = 'text/plain') =>
    response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text)
  if (request.method !== 'POST' || request.url !== '/signup') return respond(200, page, 'text/html')
  try {
    await signUp(request, respond)
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error
    // 404 and 422: the token is unknown, expired or not one at all.
    respond(error.status === 404 || error.status === 422 ? 400 : 503, 'Please verify yourself again.')
  }
}

// A client that closes the connection during a request must not end the process.
const server = createServer((request, response) =>
  answer(request, response).catch(error => {
    process.stderr.write(`${error}\n`)
    response.destroy()
  }),
)
server.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on http://localhost:${server.address().port}\n`)
})

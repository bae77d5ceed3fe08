// Sign-up with a verified phone number or email address, in Express. The code is checked here, on the backend, with a server key.
// It needs the packages express and countersign: docs/clients.md says how to install ours.
//   COUNTERSIGN_URL=http://localhost:3000 COUNTERSIGN_KEY=sk_test_… PORT=8080 node server.mjs
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { Countersign, CountersignError } from 'countersign'
import express from 'express'

const { COUNTERSIGN_URL, COUNTERSIGN_KEY, PORT = '8080' } = process.env
const countersign = new Countersign({ key: COUNTERSIGN_KEY, baseUrl: COUNTERSIGN_URL })

/** The verifications that are under way, by the visitor's cookie. Keep yours in your session store. */
const started = new Map()
const visitorOf = request => /(?:^|; )visitor=([^;]+)/.exec(request.headers.cookie ?? '')?.[1]

const app = express()
app.use(express.json({ limit: '10kb' }))

app.post('/signup', async (request, response) => {
  const recipient = request.body?.recipient
  // Behind a proxy, set 'trust proxy': then this is the visitor's address and not the proxy's.
  const { otp_id, masked_recipient, channel } = await countersign.send({ recipient, client_ip: request.ip })
  const visitor = randomBytes(32).toString('hex')
  started.set(visitor, { otp_id, recipient })
  response.cookie('visitor', visitor, { httpOnly: true, sameSite: 'lax', secure: request.secure })
  response.json({ sent_to: masked_recipient, channel })
})

app.post('/signup/verify', async (request, response) => {
  const visitor = visitorOf(request)
  const verification = started.get(visitor)
  if (!verification) return response.status(409).json({ detail: 'Start again.' })
  const { otp_id, recipient } = verification
  const { matched, attempts_left } = await countersign.verify({ otp_id, code: request.body?.code })
  if (!matched) return response.status(422).json({ detail: `Wrong code. ${attempts_left} attempts are left.` })
  // A verification is accepted once: of two calls with the right code, only one still finds it here.
  if (!started.delete(visitor)) return response.status(409).json({ detail: 'Start again.' })
  response.json({ verified: recipient })
})

/** Says what the visitor can change; the rest is for your log. Express knows by its four parameters that it takes errors. */
app.use((error, _request, response, next) => {
  if (!(error instanceof CountersignError)) return next(error)
  if ([409, 410, 422, 429].includes(error.status)) {
    if (error.retry_after) response.set('retry-after', String(error.retry_after))
    return response.status(error.status).json({ detail: error.message })
  }
  process.stderr.write(`${error.type} ${error.message} ${error.request_id}\n`)
  response.status(503).json({ detail: 'Codes cannot be sent at the moment.' })
})

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on port ${server.address().port}\n`)
})

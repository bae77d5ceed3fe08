// The least work of sending messages: HTTP calls from one process, a given number at once, and nothing else.
import process from 'node:process'
import { Pool } from 'undici'

const [origin = '', path = '', messages = '', atOnce = ''] = process.argv.slice(2)
const pool = new Pool(origin, { connections: Number(atOnce) })
const headers = { 'content-type': 'application/json' }
let left = Number(messages)

async function lane(): Promise<void> {
  while (left > 0) {
    left -= 1
    const body = JSON.stringify({
      recipient: '+447700900123',
      text: `${left} is your Shop verification code.`,
      delivery_id: 'dlv',
    })
    const answer = await pool.request({ method: 'POST', path, headers, body })
    await answer.body.text()
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, lane))
await pool.close()

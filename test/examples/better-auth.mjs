// Plays docs/examples/better-auth.mjs against a running Countersign: a code by SMS and one by email, each made and checked by Better Auth.
// In: COUNTERSIGN_URL, COUNTERSIGN_KEY (a server key of test mode) and COUNTERSIGN_TOKEN (an operator's). Run by better-auth.sh.
import assert from 'node:assert/strict'
import process from 'node:process'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { anonymous } from 'better-auth/plugins'
import { createAuth } from './example.mjs'

const { COUNTERSIGN_URL, COUNTERSIGN_TOKEN } = process.env

/** The newest code in the sandbox's inbox. */
async function codeFor(recipient) {
  for (let tries = 0; tries < 200; tries += 1) {
    const response = await fetch(
      `${COUNTERSIGN_URL}/admin/v1/sandbox/messages?recipient=${encodeURIComponent(recipient)}`,
      {
        headers: { authorization: `Bearer ${COUNTERSIGN_TOKEN}` },
      },
    )
    const [message] = await response.json()
    if (message) return message.code
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`no message to ${recipient} arrived`)
}

const auth = createAuth({
  baseURL: 'http://localhost:3999',
  secret: 'a secret of this test that is long enough',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  plugins: [anonymous()],
})
assert.ok('signInAnonymous' in auth.api, "the user's own plugin is there")

const phoneNumber = '+14155550123'
await auth.api.sendPhoneNumberOTP({ body: { phoneNumber } })
const verified = await auth.api.verifyPhoneNumber({ body: { phoneNumber, code: await codeFor(phoneNumber) } })
assert.equal(verified.status, true)

const email = 'ada@example.com'
await auth.api.sendVerificationOTP({ body: { email, type: 'sign-in' } })
const signedIn = await auth.api.signInEmailOTP({ body: { email, otp: await codeFor(email) } })
assert.equal(signedIn.user.email, email)

/** These numbers of the sandbox are refused. */
const refused = {
  '+15005550001': [400, 'We could not send a code to this number or address.'],
  '+15005550004': [503, 'We cannot send a code right now. Please try again later.'],
  '+15005550006': [429, 'You have asked for too many codes. Please try again later.'],
}
for (const [number, [statusCode, message]] of Object.entries(refused)) {
  const error = await auth.api.sendPhoneNumberOTP({ body: { phoneNumber: number } }).catch(thrown => thrown)
  assert.deepEqual([error.statusCode, error.message], [statusCode, message])
}

console.log('better-auth: both codes arrived and were accepted')

// Better Auth makes and checks its codes, and Countersign delivers them: by any channel to a number, by email to an address.
//   npm install better-auth ../path/to/countersign-0.2.0.tgz    (docs/clients.md says how it is made)
//   COUNTERSIGN_URL=https://… COUNTERSIGN_KEY=sk_… node your-server.mjs

import process from 'node:process'
import { betterAuth } from 'better-auth'
import { APIError } from 'better-auth/api'
import { emailOTP, phoneNumber } from 'better-auth/plugins'
import { Countersign, CountersignError } from 'countersign'

const { COUNTERSIGN_URL = 'http://localhost:3000', COUNTERSIGN_KEY } = process.env
const countersign = new Countersign({ key: COUNTERSIGN_KEY, baseUrl: COUNTERSIGN_URL })

/** How long Better Auth takes a code. The message says it too. */
const CODE_SECONDS = 300

async function deliver(recipient, code, request) {
  // The address of your user, as your own proxy tells it: messages without one share a much lower limit.
  const client_ip = request?.headers.get('x-real-ip') ?? null
  try {
    await countersign.messages.send({ recipient, code, client_ip, expires_in_seconds: CODE_SECONDS })
  } catch (error) {
    throw refusalOf(error)
  }
}

/** What your user is told. Without this, every refusal would be a 500 without words. */
function refusalOf(error) {
  if (!(error instanceof CountersignError)) return error
  const { type } = error
  if (['InvalidRecipientError', 'NoEnabledChannelError', 'GeoBlockedError'].includes(type))
    return new APIError('BAD_REQUEST', { message: 'We could not send a code to this number or address.' })
  if (type === 'RateLimitExceededError')
    return new APIError('TOO_MANY_REQUESTS', { message: 'You have asked for too many codes. Please try again later.' })
  // Yours to mend, and not your user's: an empty balance, a revoked key, an outage.
  process.emitWarning(error)
  return new APIError('SERVICE_UNAVAILABLE', { message: 'We cannot send a code right now. Please try again later.' })
}

/** Add your database, your plugins and the other options of Better Auth. */
export const createAuth = ({ plugins = [], ...options }) =>
  betterAuth({
    ...options,
    plugins: [
      phoneNumber({
        expiresIn: CODE_SECONDS,
        sendOTP: ({ phoneNumber, code }, context) => deliver(phoneNumber, code, context?.request),
        signUpOnVerification: { getTempEmail: number => `${number.slice(1)}@phone.invalid` },
      }),
      emailOTP({
        expiresIn: CODE_SECONDS,
        sendVerificationOTP: ({ email, otp }, context) => deliver(email, otp, context?.request),
      }),
      ...plugins,
    ],
  })

// Better Auth makes and checks its codes, and Countersign delivers them: by any channel to a number, by email to an address.
//   npm install better-auth
//   COUNTERSIGN_URL=https://… COUNTERSIGN_KEY=sk_… node your-server.mjs

import process from 'node:process'
import { betterAuth } from 'better-auth'
import { emailOTP, phoneNumber } from 'better-auth/plugins'

const { COUNTERSIGN_URL = 'http://localhost:3000', COUNTERSIGN_KEY = '' } = process.env

async function deliver(recipient, code, request) {
  const response = await fetch(`${COUNTERSIGN_URL}/api/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${COUNTERSIGN_KEY}`, 'content-type': 'application/json' },
    // The address of your user, as your own proxy tells it: messages without one share a much lower limit.
    body: JSON.stringify({ recipient, code, client_ip: request?.headers.get('x-real-ip') ?? null }),
  })
  if (!response.ok) throw new Error((await response.json()).detail)
}

/** Add your database and the other options of Better Auth. */
export const createAuth = options =>
  betterAuth({
    ...options,
    plugins: [
      phoneNumber({
        sendOTP: ({ phoneNumber, code }, context) => deliver(phoneNumber, code, context?.request),
        signUpOnVerification: { getTempEmail: number => `${number.slice(1)}@phone.invalid` },
      }),
      emailOTP({ sendVerificationOTP: ({ email, otp }, context) => deliver(email, otp, context?.request) }),
    ],
  })

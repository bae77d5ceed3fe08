// Better Auth makes and checks its codes, and Countersign delivers them: by any channel to a number, by email to an address.
//   npm install better-auth ../path/to/countersign-0.2.0.tgz    (docs/clients.md says how it is made)
//   COUNTERSIGN_URL=https://… COUNTERSIGN_KEY=sk_… node your-server.mjs

import process from 'node:process'
import { betterAuth } from 'better-auth'
import { emailOTP, phoneNumber } from 'better-auth/plugins'
import { Countersign } from 'countersign'

const { COUNTERSIGN_URL = 'http://localhost:3000', COUNTERSIGN_KEY } = process.env
const countersign = new Countersign({ key: COUNTERSIGN_KEY, baseUrl: COUNTERSIGN_URL })

async function deliver(recipient, code, request) {
  // The address of your user, as your own proxy tells it: messages without one share a much lower limit.
  const client_ip = request?.headers.get('x-real-ip') ?? null
  await countersign.messages.send({ recipient, code, client_ip })
}

/** Add your database, your plugins and the other options of Better Auth. */
export const createAuth = ({ plugins = [], ...options }) =>
  betterAuth({
    ...options,
    plugins: [
      phoneNumber({
        sendOTP: ({ phoneNumber, code }, context) => deliver(phoneNumber, code, context?.request),
        signUpOnVerification: { getTempEmail: number => `${number.slice(1)}@phone.invalid` },
      }),
      emailOTP({ sendVerificationOTP: ({ email, otp }, context) => deliver(email, otp, context?.request) }),
      ...plugins,
    ],
  })

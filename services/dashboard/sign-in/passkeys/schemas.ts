// Passkeys as the admin API takes and answers them. What goes to the browser and comes from it has the names and forms
// of WebAuthn (JSON, bytes in base64url), so that a page passes it on as it is.
import { z } from 'zod'
import { timeSchema } from '../../../domain/openapi/shared-schemas.ts'
import { text } from '../../../domain/tenancy/value-schemas.ts'

const bytes = (description: string, max = 8_192) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
    .meta({ description })

const publicKey = z.literal('public-key').meta({ description: 'Always this.' })

/** Extensions say nothing that is used here; browsers add members of their own. */
const extensions = z.record(z.string(), z.unknown()).default({}).meta({ description: 'Not used.' })

const credentialMembers = {
  id: bytes('The credential.', 1_400),
  rawId: bytes('The same.', 1_400),
  type: publicKey,
  clientExtensionResults: extensions,
}

/** What `navigator.credentials.get` answers. */
export const assertion = z
  .object({
    ...credentialMembers,
    response: z
      .object({
        clientDataJSON: bytes('What was signed: challenge and origin.'),
        authenticatorData: bytes('What the authenticator says of itself.'),
        signature: bytes('Of both.'),
        userHandle: bytes('The user of the credential.', 100).nullish(),
      })
      .meta({ id: 'PasskeyAssertionResponse', description: 'A signed challenge.' }),
  })
  .meta({ id: 'PasskeyAssertion', description: 'What `navigator.credentials.get` answers, as JSON.' })

/** What `navigator.credentials.create` answers. */
const attestation = z
  .object({
    ...credentialMembers,
    response: z
      .object({
        clientDataJSON: bytes('Challenge and origin.'),
        attestationObject: bytes('The new public key.'),
        transports: z
          .array(z.string().max(20))
          .max(10)
          .default([])
          .meta({ description: 'How the authenticator can be reached.' }),
      })
      .meta({ id: 'PasskeyAttestationResponse', description: 'A new credential.' }),
  })
  .meta({ id: 'PasskeyAttestation', description: 'What `navigator.credentials.create` answers, as JSON.' })

export const addPasskeyBody = z
  .strictObject({ name: text(60).meta({ description: 'By which its owner knows it.' }), credential: attestation })
  .meta({ id: 'AddPasskeyRequest', description: 'A new passkey.' })

const descriptor = z
  .object({
    id: z.string().meta({ description: 'The credential.' }),
    type: publicKey,
    transports: z.array(z.string()).meta({ description: 'How its authenticator can be reached.' }),
  })
  .meta({ id: 'PasskeyDescriptor', description: 'A credential that is known.' })

const required = z.literal('required').meta({ description: 'Always this.' })
const challenge = z.string().meta({ description: 'What is signed. Good for five minutes, once, in this browser.' })
const timeout = z.int().meta({ description: 'In milliseconds.' })

export const creationOptions = z
  .object({
    rp: z
      .object({ id: z.string(), name: z.string() })
      .meta({ id: 'PasskeyRelyingParty', description: 'This dashboard.' }),
    user: z
      .object({ id: z.string(), name: z.string(), displayName: z.string() })
      .meta({ id: 'PasskeyUser', description: 'Whose passkey it becomes.' }),
    challenge,
    pubKeyCredParams: z
      .array(
        z
          .object({ type: publicKey, alg: z.int() })
          .meta({ id: 'PasskeyAlgorithm', description: 'A kind of key, as COSE numbers it.' }),
      )
      .meta({ description: 'The kinds of keys, the best first.' }),
    timeout,
    excludeCredentials: z.array(descriptor).meta({ description: 'Those that the person has.' }),
    authenticatorSelection: z
      .object({ residentKey: required, requireResidentKey: z.literal(true), userVerification: required })
      .meta({
        id: 'PasskeySelection',
        description: 'The passkey is found without a name, and its owner proves to be there.',
      }),
    attestation: z.literal('none').meta({ description: 'The maker of the authenticator does not matter.' }),
  })
  .meta({ id: 'PasskeyCreationOptions', description: 'For `navigator.credentials.create`, as JSON.' })

export const requestOptions = z
  .object({
    challenge,
    timeout,
    rpId: z.string().meta({ description: 'The host of this dashboard.' }),
    allowCredentials: z.array(descriptor).meta({ description: 'Empty: any passkey of this host.' }),
    userVerification: required,
  })
  .meta({ id: 'PasskeyRequestOptions', description: 'For `navigator.credentials.get`, as JSON.' })

export const passkey = z
  .object({
    id: z.string().meta({ description: 'Identifies the passkey.' }),
    name: z.string().meta({ description: 'In the words of its owner.' }),
    created_at: timeSchema('When it was added.'),
    last_used_at: timeSchema('When it was last used; null when it never was.').nullable(),
  })
  .meta({ id: 'Passkey', description: 'A passkey of the caller.' })

export const passkeys = z
  .object({
    available: z.boolean().meta({
      description: 'Whether the caller can add one: not where `PUBLIC_URL` has no host name, and not as an operator.',
    }),
    items: z.array(passkey).meta({ description: 'Oldest first.' }),
  })
  .meta({ id: 'Passkeys', description: 'The passkeys of the caller.' })

export type Assertion = z.output<typeof assertion>
export type Attestation = z.output<typeof attestation>
export type CreationOptions = z.output<typeof creationOptions>
export type RequestOptions = z.output<typeof requestOptions>
export type PasskeyAnswer = z.output<typeof passkey>

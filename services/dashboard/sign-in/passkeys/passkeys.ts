// Passkeys of users (WebAuthn). In: what an authenticator answers to a challenge of ours. Out: a stored passkey, or the
// user whom it belongs to. A passkey is found by the id of its credential; it must have a good MAC, belong to a member
// who still exists, and verify its owner by fingerprint, face or PIN.
//
// An assertion is good once: its challenge is spent before anything is granted. A crash in between asks for another one.
import { Buffer } from 'node:buffer'
import type { Clock } from '../../../../infra/clock.ts'
import { newId } from '../../../../infra/ids.ts'
import type { Logger } from '../../../../infra/log/log.ts'
import { LOST, retryAfterLostRace } from '../../../../infra/store/lost-race.ts'
import { changeOne, getOne } from '../../../../infra/store/one-doc.ts'
import { scanAll } from '../../../../infra/store/scan.ts'
import { isInvitation, type PasskeyDoc, type UserDoc, type UserStore } from '../../../domain/users/documents.ts'
import type { Grants } from '../../../domain/users/grants.ts'
import { CHALLENGE_MS, type Challenges, type ChallengeUse } from './challenges.ts'
import type { RelyingParty } from './relying-party.ts'
import type { Assertion, Attestation, CreationOptions, RequestOptions } from './schemas.ts'

export const NO_PASSKEYS = 'Passkeys need a PUBLIC_URL that begins with https and has a host name.'

/** More than a person has authenticators. */
export const MAX_PASSKEYS = 20

/** Ed25519, ES256 and RS256: what authenticators have, and Node's WebCrypto checks. */
const ALGORITHMS = [-8, -7, -257]

export interface NewPasskeyOwner {
  user_id: string
  email: string
  name: string | null
}

export interface Passkeys {
  /** False where browsers offer none (relying-party.ts); then nothing else is called. */
  available: boolean
  /** The passkeys of these users, oldest first. Those without a good MAC are left out. */
  of(userIds: readonly string[]): Promise<PasskeyDoc[]>
  creationOptions(owner: NewPasskeyOwner, known: readonly PasskeyDoc[], browser: string): CreationOptions
  /** A passkey that is not stored yet; null if it is not a good answer to a challenge of this browser. */
  attest(credential: Attestation, user_id: string, name: string, browser: string): Promise<PasskeyDoc | null>
  /** `known`: which may be used; any where it is empty. */
  requestOptions(use: ChallengeUse, known: readonly PasskeyDoc[]): RequestOptions
  /** The user whose passkey has signed a challenge for this use; otherwise null. */
  check(credential: Assertion, use: ChallengeUse): Promise<UserDoc | null>
}

export interface PasskeyDeps {
  store: UserStore
  grants: Grants
  challenges: Challenges
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
  relyingParty: RelyingParty | null
}

export function createPasskeys({ store, grants, challenges, clock, log, relyingParty }: PasskeyDeps): Passkeys {
  const [passkeys, users] = [store.docs('passkeys'), store.docs('users')]
  const { id: rpId, origin } = relyingParty ?? { id: '', origin: '' }

  /** What both kinds of answers are checked against. */
  const expected = (use: ChallengeUse) => ({
    expectedChallenge: (challenge: string) => challenges.isGood(fromBase64(challenge), use),
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
  })

  async function find(credential_id: string): Promise<{ passkey: PasskeyDoc; user: UserDoc } | null> {
    const [passkey] = await passkeys.find({ credential_id }, { sort: { credential_id: 1 }, limit: 1 })
    if (!passkey || !grants.isGenuine('passkeys', passkey)) return null
    const user = await getOne(users, passkey.user_id)
    return user && !isInvitation(user) && grants.isGenuine('users', user) ? { passkey, user } : null
  }

  /** The counter that the authenticator has signed; null if it is not a good answer. */
  async function verify(credential: Assertion, use: ChallengeUse, passkey: PasskeyDoc): Promise<number | null> {
    const { credential_id: id, public_key, counter } = passkey
    const { verifyAuthenticationResponse } = await loadWebAuthn()
    const { userHandle, ...response } = credential.response
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expected(use),
      response: { ...credential, response },
      credential: { id, publicKey: Buffer.from(public_key, 'base64url'), counter },
    }).catch(refused)
    return verified && !isCrossOrigin(credential) ? authenticationInfo.newCounter : null
  }

  return {
    available: relyingParty !== null,

    async of(userIds) {
      const found: PasskeyDoc[] = []
      for await (const passkey of scanAll(passkeys, { user_id: { $in: [...userIds] } }))
        if (grants.isGenuine('passkeys', passkey)) found.push(passkey)
      return found
    },

    creationOptions: ({ user_id, email, name }, known, browser) => ({
      rp: { id: rpId, name: 'Countersign' },
      user: { id: toBase64(user_id), name: email, displayName: name ?? email },
      challenge: toBase64(challenges.create({ purpose: 'add', browser })),
      pubKeyCredParams: ALGORITHMS.map(alg => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_MS,
      excludeCredentials: known.map(descriptorOf),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    }),

    async attest(credential, user_id, name, browser) {
      const { verifyRegistrationResponse } = await loadWebAuthn()
      const use = { purpose: 'add', browser } as const
      const { registrationInfo } = await verifyRegistrationResponse({
        ...expected(use),
        // The type of the package names members that it does not read.
        response: credential as Parameters<typeof verifyRegistrationResponse>[0]['response'],
        supportedAlgorithmIDs: ALGORITHMS,
      }).catch(refused)
      if (!registrationInfo || isCrossOrigin(credential)) return null
      if (!(await challenges.spend(challengeOf(credential)))) return null
      const { id, publicKey, counter } = registrationInfo.credential
      const now = clock.now()
      return grants.stamp('passkeys', {
        _id: newId('psk', now),
        user_id,
        credential_id: id,
        public_key: Buffer.from(publicKey).toString('base64url'),
        counter,
        transports: credential.response.transports,
        name,
        created_at: now,
        last_used_at: null,
        rev: 0,
      })
    },

    requestOptions: (use, known) => ({
      challenge: toBase64(challenges.create(use)),
      timeout: CHALLENGE_MS,
      rpId,
      allowCredentials: known.map(descriptorOf),
      userVerification: 'required',
    }),

    async check(credential, use) {
      const refuse = (passkey_id: string | null): null => {
        log.warn({ passkey_id, use: use.purpose }, 'passkey.refused')
        return null
      }
      if (relyingParty === null) return refuse(null)
      let isSpent = false
      return retryAfterLostRace('a passkey', async () => {
        const found = await find(credential.id)
        if (found === null) return refuse(null)
        const { passkey, user } = found
        const { userHandle } = credential.response
        const isOfOther = userHandle != null && fromBase64(userHandle) !== user._id
        const counter = isOfOther ? null : await verify(credential, use, passkey)
        if (counter === null) return refuse(passkey._id)
        // Once: after a lost race the same assertion is checked against the counter that another one has written.
        if (!isSpent && !(await challenges.spend(challengeOf(credential)))) return refuse(passkey._id)
        isSpent = true
        const { _id, rev } = passkey
        const { mac } = grants.stamp('passkeys', { ...passkey, counter })
        const $set = { counter, last_used_at: clock.now(), ...(mac === undefined ? {} : { mac }) }
        return (await changeOne(passkeys, { _id, rev, update: { $set } })) ? user : LOST
      })
    },
  }
}

/** The package throws at what it does not accept; its words may repeat the request's, and are not logged. */
const refused = () => ({ verified: false, authenticationInfo: null, registrationInfo: null }) as const

/** It takes 27 MB, which a dashboard without passkeys does not need. */
const loadWebAuthn = () => import('@simplewebauthn/server')

const descriptorOf = ({ credential_id, transports }: PasskeyDoc) => ({
  id: credential_id,
  type: 'public-key' as const,
  transports,
})

const toBase64 = (text: string): string => Buffer.from(text).toString('base64url')
const fromBase64 = (text: string): string => Buffer.from(text, 'base64url').toString()

/** In: an answer that is verified. */
const clientDataOf = ({ response }: Assertion | Attestation): { challenge: string; crossOrigin?: boolean } =>
  JSON.parse(fromBase64(response.clientDataJSON))

const challengeOf = (answer: Assertion | Attestation): string => fromBase64(clientDataOf(answer).challenge)

/** Made in a frame of another site's page, which may deceive the person. The package does not look at it. */
const isCrossOrigin = (answer: Assertion | Attestation): boolean =>
  (clientDataOf(answer).crossOrigin ?? false) !== false

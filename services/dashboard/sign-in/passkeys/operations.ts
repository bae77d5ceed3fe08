// The caller's own passkeys. Adding one needs a step-up: who holds a stolen session must not be able to prove later to be its owner.
import { unsealOrNull } from '../../../../infra/crypto/unseal-or-null.ts'
import { httpException } from '../../../../infra/http/problem.ts'
import { isoTime, isoTimeOrNull } from '../../../../infra/iso-time.ts'
import { documentRefusal } from '../../../domain/openapi/refusals.ts'
import { type PasskeyDoc, type UserDoc, userContext } from '../../../domain/users/documents.ts'
import { type Principal, principalOf } from '../../access.ts'
import type { AdminDeps } from '../../admin-deps.ts'
import { conflict, noContent, ok } from '../../answers.ts'
import { operationWith } from '../../operation.ts'
import { notFound } from '../../request-input.ts'
import { companyOrNull, type Entry } from '../entry.ts'
import { MAX_PASSKEYS, NO_PASSKEYS, type Passkeys } from './passkeys.ts'
import { addPasskeyBody, creationOptions, type PasskeyAnswer, passkey, passkeys } from './schemas.ts'

export interface PasskeyDeps extends AdminDeps {
  entry: Pick<Entry, 'usersOf'>
  passkeys: Passkeys
}

const operation = operationWith<PasskeyDeps>()

const example: PasskeyAnswer = {
  id: 'psk_01k2m8x4e9s7v3hqz5tnw6yb0c',
  name: 'Work laptop',
  created_at: '2030-01-01T12:00:00.000Z',
  last_used_at: null,
}

const NOT_HERE = conflict(
  'Passkeys are not offered here, or not to an operator; the person has too many; or the company is closed.',
)

export const passkeyOperations = [
  operation({
    id: 'listPasskeys',
    request: 'GET /me/passkeys',
    role: 'viewer',
    summary: "List the caller's passkeys",
    description: 'At most 20. They sign the person in, in whichever company they were added.',
    answers: [ok(passkeys, 'The passkeys.', { available: true, items: [example] })],
    handle: async ({ ctx }, deps) => ({
      available: deps.passkeys.available && principalOf(ctx).user_id !== null,
      items: (await ownPasskeys(deps, principalOf(ctx))).map(passkeyView),
    }),
  }),
  operation({
    id: 'startPasskey',
    request: 'POST /me/passkeys/options',
    role: 'viewer',
    stepUp: true,
    summary: 'Begin to add a passkey',
    description: 'For `navigator.credentials.create`, within five minutes.',
    answers: [
      ok(creationOptions, 'What the browser is asked.', {
        rp: { id: 'otp.example.com', name: 'Countersign' },
        user: { id: 'dXNyXzAx', name: 'ada@example.com', displayName: 'Ada' },
        challenge: 'MTg5MzQ1NjAwMDAwMC4',
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        timeout: 300_000,
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
      }),
    ],
    refusals: [NOT_HERE],
    handle: async ({ ctx }, deps) => {
      const { user, session_id, known } = await requireUser(deps, principalOf(ctx))
      const { _id: user_id, sealed_email, sealed_name } = user
      const email = unsealOrNull(deps.keyring, sealed_email, userContext.email(user_id)) ?? user_id
      const name = sealed_name && unsealOrNull(deps.keyring, sealed_name, userContext.name(user_id))
      return deps.passkeys.creationOptions({ user_id, email, name }, known, session_id)
    },
  }),
  operation({
    id: 'addPasskey',
    request: 'POST /me/passkeys',
    role: 'viewer',
    stepUp: true,
    summary: 'Add a passkey',
    description: 'What the browser answered to the options of `POST /me/passkeys/options`.',
    body: {
      schema: addPasskeyBody,
      example: {
        name: 'Work laptop',
        credential: {
          id: 'c2VjcmV0',
          rawId: 'c2VjcmV0',
          type: 'public-key',
          clientExtensionResults: {},
          response: { clientDataJSON: 'eyJ0eXBl', attestationObject: 'o2NmbXRk', transports: ['internal'] },
        },
      },
    },
    answers: [ok(passkey, 'The passkey.', example, 201)],
    refusals: [
      NOT_HERE,
      documentRefusal('It is not an answer to a challenge that this session was given.', httpException(403)),
    ],
    handle: async ({ ctx, body: { name, credential } }, deps) => {
      const { user, session_id } = await requireUser(deps, principalOf(ctx))
      const added = await deps.passkeys.attest(credential, user._id, name, session_id)
      if (added === null) throw httpException(403, 'The passkey was not accepted. Try again.')
      const docs = deps.store.docs('passkeys')
      return deps.withAudit(ctx, async () => {
        const { known, person } = await requireUser(deps, principalOf(ctx))
        const { credential_id } = added
        if ((await docs.find({ credential_id }, { sort: { credential_id: 1 }, limit: 1 })).length > 0)
          throw httpException(409, 'This passkey is in use here already.')
        const placed = { ...added, person, slot: freeSlot(known) }
        return {
          action: 'passkey.create',
          target: added._id,
          company_id: user.company_id,
          before: null,
          after: { name },
          perform: async () => ((await docs.insert([placed]))[0] === 'inserted' ? passkeyView(added) : null),
        }
      })
    },
  }),
  operation({
    id: 'deletePasskey',
    request: 'DELETE /me/passkeys/{id}',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: "Remove one of the caller's passkeys",
    description: 'It signs nobody in from then on. The sessions that it began go on.',
    answers: [noContent('It is removed.')],
    handle: async ({ ctx, params: { id } }, deps) => {
      await deps.withAudit(ctx, async () => {
        const found = (await ownPasskeys(deps, principalOf(ctx))).find(({ _id }) => _id === id)
        if (found === undefined) throw notFound('passkey')
        return {
          action: 'passkey.delete',
          target: id,
          company_id: companyOrNull(principalOf(ctx).company_id),
          before: { name: found.name },
          after: null,
          perform: async () => ((await deps.store.docs('passkeys').remove({ _id: id }, 1)) === 1 ? found : null),
        }
      })
    },
  }),
]

/** All passkeys of the person who calls. */
export async function ownPasskeys(
  deps: Pick<PasskeyDeps, 'entry' | 'passkeys'>,
  caller: Principal,
): Promise<PasskeyDoc[]> {
  if (!deps.passkeys.available) return []
  const users = await deps.entry.usersOf(caller)
  return deps.passkeys.of(users.map(({ _id }) => _id))
}

/** The user of a session who may add a passkey. */
async function requireUser(
  deps: PasskeyDeps,
  caller: Principal,
): Promise<{ user: UserDoc; session_id: string; known: PasskeyDoc[]; person: string }> {
  const users = await deps.entry.usersOf(caller)
  const user = users.find(({ _id }) => _id === caller.user_id)
  if (!user || caller.session === null) throw httpException(409, 'Only users have passkeys; an operator has a token.')
  if (!deps.passkeys.available) throw httpException(409, NO_PASSKEYS)
  const known = await ownPasskeys(deps, caller)
  if (known.length >= MAX_PASSKEYS)
    throw httpException(409, `A person has at most ${MAX_PASSKEYS} passkeys. Remove one first.`)
  return { user, session_id: caller.session.id, known, person: users[0]?._id ?? user._id }
}

/** The lowest, so that of several passkeys added at once each but one has to read anew how many there are. */
function freeSlot(known: readonly PasskeyDoc[]): number {
  const taken = new Set(known.map(({ slot }) => slot))
  let slot = 1
  while (taken.has(slot)) slot += 1
  return slot
}

const passkeyView = ({ _id, name, created_at, last_used_at }: PasskeyDoc): PasskeyAnswer => ({
  id: _id,
  name,
  created_at: isoTime(created_at),
  last_used_at: isoTimeOrNull(last_used_at),
})

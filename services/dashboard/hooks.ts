// The hooks by which Supabase Auth has its codes delivered: their address, and their secrets.
import { z } from 'zod'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { changeOne } from '../../infra/store/one-doc.ts'
import { MODES, type Mode } from '../../machines/otp.ts'
import { validationProblem } from '../domain/errors.ts'
import { keyMode } from '../domain/openapi/shared-schemas.ts'
import type { App, HookSecretsOfApp } from '../domain/tenancy/documents.ts'
import { FINGERPRINT_PATTERN, fingerprint } from '../domain/tenancy/fingerprint.ts'
import { hookSecrets, MAX_HOOK_SECRETS, openHookSecret, sealHookSecret } from '../domain/tenancy/hook-secrets.ts'
import { ok } from './answers.ts'
import { operation } from './operation.ts'
import { getOr404 } from './request-input.ts'

const LOGIN = 'supabase'

const fingerprints = (mode: Mode) =>
  z.array(z.string()).meta({ description: `Of ${mode} mode, without any that cannot be read.` })

const hook = z
  .object({
    path: z.string().meta({ description: 'The address of both hooks, after `PUBLIC_URL`.' }),
    secrets: z
      .object({ live: fingerprints('live'), test: fingerprints('test') })
      .meta({ id: 'HookSecrets', description: 'Fingerprints of the secrets.' }),
    unreadable: z.array(keyMode).meta({
      description:
        'The modes that have a secret sealed with a data key that is no longer configured. Calls that it signs are refused with 503 in `error`.',
    }),
  })
  .meta({ id: 'SupabaseHook', description: 'Where Supabase Auth has codes delivered.' })

const EXAMPLE = {
  path: '/hooks/supabase/app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  secrets: { live: ['hmac:Zm9vYmFy', 'hmac:YmF6cXV4'], test: [] },
  unreadable: [],
}

/** What an app has of one mode. `secret`: null for one that cannot be read. */
const storedOf = (keyring: Pick<Keyring, 'unseal'>, { _id, hook_secrets = {} }: App, mode: Mode) =>
  (hook_secrets[LOGIN]?.[mode] ?? []).map(sealed => ({
    sealed,
    secret: openHookSecret(keyring, sealed, { app_id: _id, login: LOGIN, mode }),
  }))

const view = (keyring: Pick<Keyring, 'index' | 'unseal'>, app: App) => {
  const shown = (mode: Mode): string[] =>
    storedOf(keyring, app, mode).flatMap(({ secret }) => (secret === null ? [] : [fingerprint(keyring, secret)]))
  const isUnreadable = (mode: Mode): boolean => storedOf(keyring, app, mode).some(({ secret }) => secret === null)
  return {
    path: `/hooks/${LOGIN}/${app._id}`,
    secrets: { live: shown('live'), test: shown('test') },
    unreadable: MODES.filter(isUnreadable),
  }
}

/** For the audit log. That one cannot be read is named, so that its removal is seen. */
const audited = ({ secrets, unreadable }: ReturnType<typeof view>) => ({
  ...secrets,
  ...(unreadable.length > 0 ? { unreadable } : {}),
})

/** Sealed: new ones, and those of which only the fingerprint is given as they are stored. */
function sealedSecrets(keyring: Keyring, app: App, mode: Mode, given: readonly string[]): string[] {
  const stored = storedOf(keyring, app, mode)
  return given.map(text => {
    if (!isFingerprint(text)) return sealHookSecret(keyring, text, { app_id: app._id, login: LOGIN, mode })
    const kept = stored.find(({ secret }) => secret !== null && fingerprint(keyring, secret) === text)
    if (kept) return kept.sealed
    throw validationProblem([{ path: 'secrets', message: `has ${text}, which is no secret of this mode` }])
  })
}

const isFingerprint = (text: string): boolean => FINGERPRINT_PATTERN.test(text)

export const hookOperations = [
  operation({
    id: 'getSupabaseHook',
    request: 'GET /apps/{id}/hooks/supabase',
    role: 'viewer',
    summary: 'Look the Supabase hooks up',
    description: 'Their address, and the fingerprints of their secrets.',
    answers: [ok(hook, 'The hooks.', EXAMPLE)],
    handle: async ({ app }, { keyring }) => view(keyring, app),
  }),
  operation({
    id: 'setSupabaseHook',
    request: 'PUT /apps/{id}/hooks/supabase',
    role: 'developer',
    stepUp: ({ body }) => body.mode === 'live',
    summary: 'Set the secrets of the Supabase hooks',
    description:
      'The secrets that Supabase Auth made for its hooks "Send SMS" and "Send Email". What they sign is sent in this mode. They replace all that the mode has; one that stays can be given by its fingerprint. Null removes all. Live ones need a step-up in a session.',
    body: {
      schema: z
        .strictObject({
          mode: keyMode,
          secrets: hookSecrets(isFingerprint).meta({
            description: `As Supabase shows them: \`v1,whsec_…\`, several of one hook as \`A|B\`, and at most ${MAX_HOOK_SECRETS} in all.`,
          }),
        })
        .meta({ id: 'SetSupabaseHookRequest', description: 'Sets or removes secrets.' }),
      example: { mode: 'live', secrets: ['hmac:Zm9vYmFy', 'v1,whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGU='] },
    },
    answers: [ok(hook, 'The hooks.', EXAMPLE)],
    handle: ({ ctx, params, body: { mode, secrets } }, { store, keyring, withAudit }) =>
      withAudit(ctx, async () => {
        const docs = store.docs('apps')
        const stored = await getOr404(ctx, docs, params.id, 'app')
        const { _id, rev, company_id } = stored
        const hook_secrets: HookSecretsOfApp = {
          ...stored.hook_secrets,
          [LOGIN]: { ...stored.hook_secrets?.[LOGIN], [mode]: sealedSecrets(keyring, stored, mode, secrets) },
        }
        const changed: App = { ...stored, hook_secrets }
        return {
          action: 'hook.change',
          target: _id,
          company_id,
          before: audited(view(keyring, stored)),
          after: audited(view(keyring, changed)),
          perform: async () =>
            (await changeOne(docs, { _id, rev, update: { $set: { hook_secrets } } })) ? view(keyring, changed) : null,
        }
      }),
  }),
]

// The hook by which Supabase Auth has its codes delivered: its address, and its secrets.
import { z } from 'zod'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../infra/crypto/unseal-or-null.ts'
import { changeOne } from '../../infra/store/one-doc.ts'
import { MODES, type Mode } from '../../machines/otp.ts'
import { keyMode } from '../domain/openapi/shared-schemas.ts'
import { type App, hookSecretContext } from '../domain/tenancy/documents.ts'
import { fingerprint } from '../domain/tenancy/fingerprint.ts'
import { hookSecret, sealHookSecret } from '../domain/tenancy/hook-secrets.ts'
import { ok } from './answers.ts'
import { operation } from './operation.ts'
import { getOr404 } from './request-input.ts'

const hook = z
  .object({
    path: z.string().meta({ description: 'The address of the hook, after `PUBLIC_URL`.' }),
    secrets: z
      .object({
        live: z.string().nullable().meta({ description: 'Of live mode; null: none, or none that can be read.' }),
        test: z.string().nullable().meta({ description: 'Of test mode; null: none, or none that can be read.' }),
      })
      .meta({ id: 'HookSecrets', description: 'Fingerprints of the secrets.' }),
    unreadable: z.array(keyMode).meta({
      description:
        'The modes whose secret is set, but sealed with a data key that is no longer configured. Calls that it signs are answered with 503.',
    }),
  })
  .meta({ id: 'SupabaseHook', description: 'Where Supabase Auth has codes delivered.' })

const EXAMPLE = {
  path: '/hooks/supabase/app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  secrets: { live: 'hmac:Zm9vYmFy', test: null },
  unreadable: [],
}

const view = (keyring: Pick<Keyring, 'index' | 'unseal'>, { _id, hook_secrets = {} }: App) => {
  const shown = (mode: Mode): string | null => {
    const sealed = hook_secrets[mode] ?? null
    const secret = sealed === null ? null : unsealOrNull(keyring, sealed, hookSecretContext(_id, mode))
    return secret === null ? null : fingerprint(keyring, secret)
  }
  const secrets = { live: shown('live'), test: shown('test') }
  const isUnreadable = (mode: Mode): boolean => (hook_secrets[mode] ?? null) !== null && secrets[mode] === null
  return { path: `/hooks/supabase/${_id}`, secrets, unreadable: MODES.filter(isUnreadable) }
}

/** For the audit log. A secret that cannot be read is named, so that its removal is seen. */
const audited = ({ secrets, unreadable }: ReturnType<typeof view>) => ({
  ...secrets,
  ...(unreadable.length > 0 ? { unreadable } : {}),
})

export const hookOperations = [
  operation({
    id: 'getSupabaseHook',
    route: 'GET /apps/{id}/hooks/supabase',
    role: 'viewer',
    summary: 'Look the Supabase hook up',
    description: 'Its address, and whether its secrets are set.',
    answers: [ok(hook, 'The hook.', EXAMPLE)],
    handle: async ({ app }, { keyring }) => view(keyring, app),
  }),
  operation({
    id: 'setSupabaseHook',
    route: 'PUT /apps/{id}/hooks/supabase',
    role: 'developer',
    stepUp: ({ body }) => body.mode === 'live',
    summary: 'Set a secret of the Supabase hook',
    description:
      'The secret that Supabase Auth made for its hook "Send SMS" or "Send Email". What it signs is sent in this mode. Null removes it. A live one needs a step-up in a session.',
    body: {
      schema: z
        .strictObject({
          mode: keyMode,
          secret: hookSecret.meta({ description: 'As Supabase shows it: `v1,whsec_…`.' }),
        })
        .meta({ id: 'SetSupabaseHookRequest', description: 'Sets or removes a secret.' }),
      example: { mode: 'live', secret: 'v1,whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGU=' },
    },
    answers: [ok(hook, 'The hook.', EXAMPLE)],
    handle: ({ ctx, params, body: { mode, secret } }, { store, keyring, withAudit }) =>
      withAudit(ctx, async () => {
        const docs = store.docs('apps')
        const stored = await getOr404(ctx, docs, params.id, 'app')
        const { _id, rev, company_id } = stored
        const sealed = sealHookSecret(keyring, secret, { app_id: _id, mode })
        const hook_secrets = { ...stored.hook_secrets, [mode]: sealed }
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

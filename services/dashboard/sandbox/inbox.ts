// The sandbox inbox: the messages that the sandbox provider took in place of a vendor. Stored messages refer to their verification; code
// and text are rendered here.

import { type Keyring, UnknownSecret, Unsealable } from '../../../infra/crypto/keyring.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { CONSOLE_APP_ID } from '../../domain/tenancy/console.ts'
import type { Tenancy, TenantApp } from '../../domain/tenancy/tenancy.ts'
import type { OtpDoc, SandboxMessageDoc } from '../../domain/verifications/documents.ts'
import { inboxCodeContext } from '../../domain/verifications/encryption-context.ts'
import { sandboxIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { renderContent } from '../../domain/verifications/message-content.ts'
import { lookupForm } from '../../domain/verifications/valid-recipient.ts'

/** `at`: epoch milliseconds. */
export interface InboxMessage {
  otp_id: string
  delivery_id: string
  channel: Channel
  recipient: string
  text: string
  code: string
  at: number
}

export interface InboxDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'unseal' | 'code' | 'indexes'>
  tenancy: Pick<Tenancy, 'app'>
}

export interface InboxQuery {
  recipient?: string
  /** Without it, messages of every company, and codes for signing in to the dashboard. */
  company_id?: string
  limit: number
}

/** Newest first. Leaves out messages whose verification was erased, or whose data key or code secret is no longer configured. */
export async function readInbox(
  { store, keyring, tenancy }: InboxDeps,
  { recipient, company_id, limit }: InboxQuery,
): Promise<InboxMessage[]> {
  const messages = await store.docs('sandbox_messages').find(
    {
      ...(recipient === undefined ? {} : { recipient: { $in: sandboxIndexes(keyring, lookupForm(recipient)) } }),
      ...(company_id === undefined ? {} : { company_id }),
    },
    { sort: { _id: -1 }, limit },
  )
  const [otps, apps] = await Promise.all([
    store.docs('otps').get([...new Set(messages.map(({ otp_id }) => otp_id))]),
    appsOf(tenancy, messages),
  ])
  return messages
    .filter(({ app_id }) => company_id === undefined || app_id !== CONSOLE_APP_ID)
    .flatMap(message => inboxMessages(keyring, message, otps.get(message.otp_id), apps.get(message.app_id)))
}

async function appsOf(tenancy: Pick<Tenancy, 'app'>, messages: SandboxMessageDoc[]): Promise<Map<string, TenantApp>> {
  const ids = [...new Set(messages.map(({ app_id }) => app_id))]
  const apps = await Promise.all(ids.map(id => tenancy.app(id)))
  return new Map(apps.flatMap(app => (app ? [[app.id, app] as const] : [])))
}

function inboxMessages(
  keyring: InboxDeps['keyring'],
  { _id, otp_id, app_id, company_id, locale, at, sealed_code }: SandboxMessageDoc,
  otp: OtpDoc | undefined,
  app: TenantApp | undefined,
): InboxMessage[] {
  // A message that names the verification of another app was put there by an intruder in the store, who wants to read its code.
  const context = otp?.context
  if (!context || context.app_id !== app_id || context.company_id !== company_id) return []
  const delivery = context.deliveries.find(({ delivery_id }) => delivery_id === _id)
  if (!app || !delivery) return []
  try {
    const given = sealed_code === undefined ? undefined : keyring.unseal(sealed_code, inboxCodeContext(_id))
    const content = renderContent(keyring, { otp: context, delivery, app, locale, code: given })
    const { recipient, text, code } = content
    return [{ otp_id, delivery_id: _id, channel: delivery.channel, recipient, text, code, at }]
  } catch (error) {
    if (error instanceof Unsealable || error instanceof UnknownSecret) return []
    throw error
  }
}

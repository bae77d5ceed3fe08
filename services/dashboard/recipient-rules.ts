// Rules about single recipients: those who asked for no more messages on a channel. They make them themselves, by STOP and
// START. An owner or a developer sees them, and may remove one where the person asked for that in another way.
import { z } from 'zod'
import { isoTime } from '../../infra/iso-time.ts'
import { OPT_OUT_CHANNELS } from '../../machines/opt-out.ts'
import { MODES } from '../../machines/otp.ts'
import { enumOf, keyMode, timeSchema } from '../domain/openapi/shared-schemas.ts'
import type { RecipientRuleDoc } from '../domain/recipients/documents.ts'
import { liftedUpdate, ruleIds } from '../domain/recipients/opt-outs.ts'
import { channel } from '../domain/tenancy/value-schemas.ts'
import { lookupForm } from '../domain/verifications/valid-recipient.ts'
import { noContent, page } from './answers.ts'
import { operation } from './operation.ts'
import { pageOf } from './page-schema.ts'
import { pageFields } from './pages.ts'
import { recipientQuery, recordLookup } from './recipients.ts'
import { getOr404 } from './request-input.ts'

const toldBy = enumOf<RecipientRuleDoc['told_by']>({ message: true, vendor: true }).meta({
  id: 'RecipientRuleToldBy',
  description: '`message`: the person wrote STOP. `vendor`: the vendor refused a message because they did.',
})

export const recipientRule = z
  .object({
    id: z.string().meta({ description: 'Identifies the rule. A rotation of `DATA_KEYS` gives it another one.' }),
    mode: keyMode,
    rule: z.literal('blocked').meta({ description: 'No message is sent.' }),
    by: z.literal('recipient').meta({ description: 'Who made it.' }),
    channel: channel.meta({ description: 'The channel on which it holds: `sms` or `whatsapp`.' }),
    masked_recipient: z
      .string()
      .nullable()
      .meta({ description: 'The recipient, masked; null once the person was erased.' }),
    told_by: toldBy,
    provider: z.string().nullable().meta({ description: 'The provider that brought it; null in the sandbox.' }),
    at: timeSchema('Since when it holds.'),
  })
  .meta({ id: 'RecipientRule', description: 'A recipient who asked for no more messages on a channel.' })

type RecipientRuleAnswer = z.output<typeof recipientRule>

const example: RecipientRuleAnswer = {
  id: 'rcp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  mode: 'live',
  rule: 'blocked',
  by: 'recipient',
  channel: 'sms',
  masked_recipient: '+44****56',
  told_by: 'message',
  provider: 'main-sms',
  at: '2030-01-01T12:00:00.000Z',
}

export const ruleView = ({
  _id,
  mode,
  rule,
  by,
  channel,
  masked,
  told_by,
  provider,
  at,
}: RecipientRuleDoc): RecipientRuleAnswer => ({
  id: _id,
  mode,
  rule,
  by,
  channel,
  masked_recipient: masked,
  told_by,
  provider,
  at: isoTime(at),
})

export const recipientRuleOperations = [
  operation({
    id: 'listRecipientRules',
    request: 'GET /apps/{id}/recipients',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: 'List recipients who said STOP',
    description: 'The recipients who asked for no more messages, with the channel on which it holds, newest first.',
    query: z.strictObject({ ...pageFields, recipient: recipientQuery }),
    answers: [page(pageOf('RecipientRulePage', recipientRule), 'A page of rules.', example)],
    handle: async ({ ctx, app, query: { recipient, ...pageOptions } }, admin) => {
      const { store, keyring } = admin
      const docs = store.docs('recipient_rules')
      await recordLookup(ctx, admin, { recipient, app, list: 'recipient_rules', cursor: pageOptions.cursor })
      if (recipient !== undefined) {
        const ids = MODES.flatMap(mode =>
          OPT_OUT_CHANNELS.flatMap(channel =>
            ruleIds(keyring, { app_id: app._id, mode }, lookupForm(recipient), channel),
          ),
        )
        const found = [...(await docs.get(ids)).values()].filter(({ state }) => state === 'holds')
        return { items: found.sort((one, other) => other.at - one.at).map(ruleView), next_cursor: null }
      }
      const source = {
        read: (after: string | undefined, limit: number) =>
          docs.find(
            { app_id: app._id, listed: { $gt: '', ...(after !== undefined && { $lt: after }) } },
            { sort: { listed: -1 }, limit },
          ),
        positionOf: ({ listed = '' }: RecipientRuleDoc) => listed,
        show: ruleView,
      }
      return admin.readPageOf(ctx, source, pageOptions)
    },
  }),
  operation({
    id: 'removeRecipientRule',
    request: 'DELETE /recipients/{id}',
    role: 'developer',
    stepUp: true,
    summary: 'Remove what a recipient asked for',
    description:
      'The person gets messages again, although they asked for none. Only where they said so in another way than by START: their vendor may still refuse, and laws of many countries ask for their consent.',
    answers: [noContent('It holds no more.')],
    handle: async ({ ctx, params }, { store, clock, withAudit }) => {
      const docs = store.docs('recipient_rules')
      await withAudit(ctx, async () => {
        const rule = await getOr404(ctx, docs, params.id, 'rule')
        const { _id, rev, app_id, company_id, mode, channel, state, heard } = rule
        if (state === 'lifted') return { unchanged: rule }
        const at = clock.now()
        return {
          action: 'recipient.allow',
          target: _id,
          company_id,
          before: { app_id, mode, channel, state },
          after: { app_id, mode, channel, state: 'lifted' },
          perform: async () =>
            (await docs.change([{ _id, rev, update: liftedUpdate(at, heard) }]))[0] === 'won' ? rule : null,
        }
      })
    },
  }),
]

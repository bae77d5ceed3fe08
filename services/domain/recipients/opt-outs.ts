// Keeps which recipients asked for no more messages on which channels. In: what a recipient asked for, in the clear, and how
// it became known. Out: whether that changed anything, and the channels that are stopped. What comes again changes nothing:
// a rule remembers the reports that changed it, and one that was lifted is kept until no report of before can come any more.
//
// A START that is handled before the STOP that it answers changes nothing, and the person stays blocked: the safe way to
// fail, since START can be sent again.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Docs, Operators } from '../../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import { DAY_MS } from '../../../infra/time.ts'
import { OPT_OUT_CHANNELS, type OptOut, type OptOutChannel } from '../../../machines/opt-out.ts'
import { LIFTED_RULE_RETENTION_MS, MAX_TEST_RETENTION_DAYS } from '../retention.ts'
import { type AppMode, recipientIndexes } from '../verifications/lookup-indexes.ts'
import { maskRecipient, type ParsedRecipient, parseRecipient } from '../verifications/valid-recipient.ts'
import { listedAt, type RecipientRuleDoc, ruleContext, ruleId } from './documents.ts'

/** Of one rule. A person seldom writes so many within days. */
const MAX_HEARD = 20

export interface OptOutInput
  extends AppMode,
    Pick<RecipientRuleDoc, 'company_id' | 'channel' | 'told_by' | 'provider'> {
  /** Names the report. */
  id: string
  asked: OptOut
  /** A number in E.164. */
  recipient: string
  at: number
  /** What a vendor says of a message is no news about a recipient who asked for messages again since then. */
  since?: number
}

export interface OptOutDeps {
  rules: Pick<Docs<RecipientRuleDoc>, 'get' | 'insert' | 'change'>
  keyring: Pick<Keyring, 'indexes' | 'seal'>
}

export interface OptOuts {
  /** The channels on which the recipient gets no messages. */
  stoppedChannels(appMode: AppMode, recipient: string): Promise<OptOutChannel[]>
  /** The rule after it, and null where nothing was to be changed. `before` is called ahead of the write, and perhaps again
   *  after a lost race. */
  record(input: OptOutInput, before: (rule_id: string) => Promise<void>): Promise<string | null>
}

/** The newest where a rotation of data keys has made a copy. */
const latestOf = (found: Iterable<RecipientRuleDoc>): RecipientRuleDoc | null =>
  [...found].reduce<RecipientRuleDoc | null>((latest, one) => (latest && latest.at >= one.at ? latest : one), null)

/** The ids that a rule may have, the one under the current data key first. */
export const ruleIds = (
  keyring: Pick<Keyring, 'indexes'>,
  appMode: AppMode,
  recipient: string,
  channel: OptOutChannel,
): string[] => recipientIndexes(keyring, appMode, recipient).map(index => ruleId(index, channel))

export function createOptOuts({ rules, keyring }: OptOutDeps): OptOuts {
  return {
    async stoppedChannels(appMode, recipient) {
      const idsByChannel = OPT_OUT_CHANNELS.map(channel => ruleIds(keyring, appMode, recipient, channel))
      const found = await rules.get(idsByChannel.flat())
      if (found.size === 0) return []
      return OPT_OUT_CHANNELS.filter((_, nth) => {
        const ids = idsByChannel[nth] ?? []
        return latestOf(ids.flatMap(id => found.get(id) ?? []))?.state === 'holds'
      })
    },

    record: (input, before) =>
      retryAfterLostRace('a rule of a recipient', async () => {
        const { asked, id, at, since = at } = input
        const ids = ruleIds(keyring, input, input.recipient, input.channel)
        const found = latestOf((await rules.get(ids, { certain: true })).values())
        const state = asked === 'stop' ? 'holds' : 'lifted'
        if (found === null && state === 'lifted') return null
        if (found?.heard.includes(id)) return null
        if (found?.state === 'lifted' && found.at > since) return null
        const rule_id = found?._id ?? ids[0] ?? ''
        const heard = [...(found?.heard ?? []), id].slice(-MAX_HEARD)
        if (found?.state === state) {
          await changeOne(rules, { _id: rule_id, rev: found.rev, update: { $set: { heard } } })
          return null
        }
        await before(rule_id)
        if (found === null) {
          const [answer] = await rules.insert([newRule(input, rule_id)])
          return answer === 'inserted' ? rule_id : LOST
        }
        const update = state === 'holds' ? heldUpdate(input, rule_id, heard) : liftedUpdate(at, heard)
        return (await changeOne(rules, { _id: rule_id, rev: found.rev, update })) ? rule_id : LOST
      }),
  }

  function newRule(input: OptOutInput, rule_id: string): RecipientRuleDoc {
    const { company_id, app_id, mode, channel, id, recipient } = input
    const [index = ''] = recipientIndexes(keyring, input, recipient)
    return {
      _id: rule_id,
      rev: 1,
      company_id,
      app_id,
      mode,
      rule: 'blocked',
      by: 'recipient',
      channel,
      recipient: index,
      ...heldMembers(input, rule_id),
      heard: [id],
    }
  }

  function heldMembers({ mode, at, recipient, told_by, provider }: OptOutInput, rule_id: string) {
    return {
      state: 'holds' as const,
      at,
      told_by,
      provider,
      sealed_recipient: keyring.seal(recipient, ruleContext(rule_id)),
      masked: maskOf(recipient),
      listed: listedAt(at, rule_id),
      ...(mode === 'test' && { purge_at: new Date(at + MAX_TEST_RETENTION_DAYS * DAY_MS) }),
    }
  }

  function heldUpdate(input: OptOutInput, rule_id: string, heard: string[]): Operators<RecipientRuleDoc> {
    const $set = { ...heldMembers(input, rule_id), heard }
    return input.mode === 'test' ? { $set } : { $set, $unset: { purge_at: true } }
  }
}

/** Also for one that an operator removes. */
export const liftedUpdate = (at: number, heard: string[]): Operators<RecipientRuleDoc> => ({
  $set: { state: 'lifted', at, heard, purge_at: new Date(at + LIFTED_RULE_RETENTION_MS) },
  $unset: { listed: true },
})

/** Takes out of the rules who they are about. The rules themselves hold on by the index: an erasure must not undo what the
 *  person asked for. Answers how many named the recipient until now. */
export async function forgetRecipientOfRules(
  rules: Pick<Docs<RecipientRuleDoc>, 'get' | 'modify'>,
  { indexes, until }: { indexes: readonly string[]; until: number },
): Promise<number> {
  const found = await rules.get(indexes.flatMap(index => OPT_OUT_CHANNELS.map(channel => ruleId(index, channel))))
  const named = [...found.values()].filter(({ sealed_recipient, at }) => sealed_recipient !== null && at <= until)
  for (const { _id } of named)
    await rules.modify(
      { _id, at: { $lte: until } },
      { $set: { sealed_recipient: null, masked: null }, $inc: { rev: 1 } },
    )
  return named.length
}

/** Null for a number that the metadata does not know: no part of it is certain to be harmless. */
function maskOf(recipient: string): string | null {
  const parsed: ParsedRecipient | null = parseRecipient(recipient)
  return parsed && maskRecipient(parsed)
}

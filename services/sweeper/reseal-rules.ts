// Moves the rules of recipients who asked for no more messages under the current data key. In: a batch of rules. Out: how many
// were renewed, and how many do not open. The id of a rule follows from the recipient's index, so a renewed one is another
// document: the copy is stored first, then the rule is removed, unless it changed meanwhile. Of both the newer one counts,
// and the next pass takes over what changed. A rule that names no person any more, because theirs was erased, cannot be
// renewed: it holds for as long as the key is configured under which it is indexed.
import { type Keyring, Unsealable } from '../../infra/crypto/keyring.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { listedAt, type RecipientRuleDoc, ruleContext, ruleId } from '../domain/recipients/documents.ts'
import { recipientIndexes } from '../domain/verifications/lookup-indexes.ts'

export interface ResealRulesDeps {
  rules: Pick<Docs<RecipientRuleDoc>, 'insert' | 'modify' | 'remove'>
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'isCurrent' | 'indexes'>
}

export const createResealRules =
  ({ rules, keyring }: ResealRulesDeps) =>
  async (batch: readonly RecipientRuleDoc[]): Promise<{ renewed: number; unsealable: number }> => {
    const counted = { renewed: 0, unsealable: 0 }
    await Promise.all(batch.map(renew))
    return counted

    async function renew(rule: RecipientRuleDoc): Promise<void> {
      const { _id, rev, sealed_recipient: sealed } = rule
      if (sealed === null || keyring.isCurrent(sealed)) return
      try {
        const copy = copyOf(rule, keyring.unseal(sealed, ruleContext(_id)))
        if ((await rules.insert([copy]))[0] === 'duplicate') {
          const { _id: copyId, rev: _, ...members } = copy
          await rules.modify({ _id: copyId, at: { $lt: copy.at } }, { $set: members, $inc: { rev: 1 } })
        }
        await rules.remove({ _id, rev }, 1)
        counted.renewed += 1
      } catch (error) {
        if (!(error instanceof Unsealable)) throw error
        counted.unsealable += 1
      }
    }

    function copyOf(rule: RecipientRuleDoc, recipient: string): RecipientRuleDoc {
      const [index = ''] = recipientIndexes(keyring, rule, recipient)
      const _id = ruleId(index, rule.channel)
      const listed = rule.listed === undefined ? {} : { listed: listedAt(rule.at, _id) }
      return { ...rule, _id, recipient: index, sealed_recipient: keyring.seal(recipient, ruleContext(_id)), ...listed }
    }
  }

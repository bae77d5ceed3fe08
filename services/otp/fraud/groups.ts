// The groups in which the guard counts. In: a number and its country. Out: the names of its country and of its range of
// a million numbers, the keyed ids of its block of ten thousand and of its own history, and its tags in that block. In:
// a mailbox. Out: the name of its kind of provider, the domain with its keyed id, and the keyed id of its history. In:
// a suspect client address (VPN, proxy, Tor, datacenter) from which a device sends in live mode. Out: the keyed id of
// its network.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { networkOf } from '../../../infra/ip-address.ts'
import { groupNamesOf, isMailbox } from '../../../machines/fraud.groups.ts'
import type { BlockNumber } from '../../../machines/fraud.number-block.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import { type GuardScope, tallyId } from '../../domain/fraud/documents.ts'
import { blockId, blockTags, historyId, mailDomainIndex } from '../../domain/fraud/numbers.ts'
import { counterKey } from '../../domain/verifications/counter-names.ts'
import { type AppMode, mailboxIndex } from '../../domain/verifications/lookup-indexes.ts'
import { mailboxOf } from '../../domain/verifications/mailbox.ts'

export interface NamedKey {
  name: string
  key: string
}

export interface RecipientGroups {
  kind: KeyKind
  /** All numbers or all mailboxes of the app; null for a server key. */
  app: NamedKey | null
  country: NamedKey
  range: NamedKey | null
  isMailbox: boolean
  block: string | null
  /** Null for a server key and in test mode. */
  history: string | null
  /** The kind of key and the recipient's keyed index. It tells numbers and mailboxes apart within this process, and is
   *  not stored in a block. */
  recipient: string
  /** Computed at the first call: a number without neighbours, as most are, needs none. */
  tags(): Pick<BlockNumber, 'tag' | 'hundred'>
}

export interface GroupedRecipient {
  /** A number or an address. */
  value: string
  country: string | null
  /** The recipient's keyed index. */
  index: string
}

export function recipientGroupsOf(
  keyring: Pick<Keyring, 'index'>,
  scope: GuardScope,
  { value, country, index: ownIndex }: GroupedRecipient,
): RecipientGroups {
  const named = (name: string) => ({ name, key: tallyId(scope, name) })
  let tags: Pick<BlockNumber, 'tag' | 'hundred'> | null = null
  const isDevice = scope.kind === 'publishable'
  const mailbox = mailboxOf(value)
  const names = groupNamesOf({ value: mailbox, country })
  const index = mailboxIndex(keyring, scope, value, ownIndex)
  // A domain may be one person's, and its name is stored nowhere.
  const domain = (name: string) => ({ name, key: tallyId(scope, mailDomainIndex(keyring, scope, name)) })
  return {
    kind: scope.kind,
    app: isDevice ? named(names.all) : null,
    country: named(names.country),
    range: names.range === null ? null : isMailbox(value) ? domain(names.range) : named(names.range),
    isMailbox: isMailbox(value),
    block: names.block === null ? null : blockId(keyring, scope, value),
    history: isDevice && scope.mode === 'live' ? historyId(scope, index) : null,
    recipient: `${scope.kind}:${index}`,
    tags() {
      tags ??= blockTags(keyring, scope, value)
      return tags
    },
  }
}

/** What one customer of a datacenter usually has. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 }

export const networkId = (keyring: Pick<Keyring, 'index'>, { app_id, mode }: AppMode, address: string): string =>
  counterKey({ app_id, mode }, keyring.index(`fraud network:${app_id}:${mode}`, networkOf(address, NETWORK_BITS)))

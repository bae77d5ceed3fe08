// The table of docs/privacy.md that a controller needs: what is kept about people, why, who receives it, how long, on what ground. In: the
// declared collections and retention times, and the page. Out: the page with the table as it must be. The text around it is written by hand.
import { DAY_MS } from '../../infra/time.ts'
import { type CollectionName, PERSONAL_DATA } from '../../services/domain/personal-data.ts'
import {
  ERASURE_ENTRY_RETENTION_MS,
  EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS,
  FRAUD_TALLY_RETENTION_MS,
  LIFTED_RULE_RETENTION_MS,
  MIN_EVENT_RETENTION_MS,
  REFUSAL_RETENTION_MS,
  STATS_DAY_RETENTION_MS,
  STATS_HOUR_RETENTION_MS,
} from '../../services/domain/retention.ts'
import { SETTINGS } from '../../services/domain/tenancy/setting-list.ts'
import { INVITATION_MS } from '../../services/domain/users/documents.ts'

interface Row {
  collections: readonly CollectionName[]
  purpose: string
  /** And how it is kept. */
  data: string
  receivers: string
  until: string
  ground: string
}

const days = (ms: number): string => `${ms / DAY_MS} days`
const [{ default: retention } = { default: 0 }] = SETTINGS.filter(({ path }) => path === 'retention_days')
const RETENTION = `the app’s \`retention_days\` (${retention}); in test mode 3 days at most`
const NO_ONE = 'no one'
const CONTRACT = 'contract (b), or your interest in secure accounts (f)'
const SECURITY = 'interest in preventing fraud and abuse (f)'
const ACCOUNTS = 'legal duty to keep accounts (c)'
const OBJECTION = 'legal duty to respect an objection (c)'
const PROOF = 'legal duty to prove erasures and changes (c)'
const ACCESS = 'contract with the user’s employer (b, f)'

const ROWS: readonly Row[] = [
  {
    collections: ['otps', 'joined_ids', 'metadata_indexes'],
    purpose: 'Prove that a person has a number or an address',
    data: 'Recipient, client address, salt, WhatsApp link, the id of a WhatsApp user who hid their number, metadata: sealed (AES-256-GCM, `DATA_KEYS`), found by an index that needs the key, metadata by one for each value. Masked recipient (`+1****23`), country, channel, times, outcomes: readable',
    receivers:
      'the vendor that sends the message: recipient and text; your endpoints: ids and outcomes, and with `full` payloads country and metadata',
    until: RETENTION,
    ground: CONTRACT,
  },
  {
    collections: ['otps'],
    purpose: 'Deliver a code that your backend made ([messages](api.md#your-own-codes))',
    data: 'The code, sealed',
    receivers: 'the vendor',
    until:
      'the message is delivered, has failed or is ten minutes old; in test mode the inbox keeps it, sealed, as long as the message',
    ground: CONTRACT,
  },
  {
    collections: ['attempts', 'sandbox_messages'],
    purpose: 'Find out why no code arrived; try an app in test mode',
    data: 'Calls of providers, what a vendor answered or wrote in a receipt, messages in the sandbox: ids, the vendor’s id of the message, its error code, its text without numbers of four digits or more, addresses and links; a keyed index',
    receivers: NO_ONE,
    until: RETENTION,
    ground: CONTRACT,
  },
  {
    collections: ['refusals'],
    purpose: 'Find out why a send was refused; [try settings](try-settings.md)',
    data: 'Time, request id, key, type of error, country, masked recipient: readable. Recipient, or the text given in its place: a keyed index. Of live sends also recipient and client address, sealed',
    receivers: NO_ONE,
    until: `${days(REFUSAL_RETENTION_MS)}, or the app’s \`retention_days\` if that is shorter`,
    ground: SECURITY,
  },
  {
    collections: ['recipient_rules'],
    purpose: 'Send no messages to a person who said [STOP](providers.md#stop-and-start)',
    data: 'Recipient: sealed, and masked; channel, provider, times; a keyed index',
    receivers: NO_ONE,
    until: `START, and ${days(LIFTED_RULE_RETENTION_MS)} after it, so that a repeated STOP of before changes nothing; in test mode 3 days. An erasure takes the recipient out, and the STOP holds on by its index`,
    ground: OBJECTION,
  },
  {
    collections: ['counters'],
    purpose: 'Limit sends and guesses',
    data: 'Counts by recipient and by client address; their name is a keyed index',
    receivers: NO_ONE,
    until: 'twice the longest window of the limit, 14 days at most',
    ground: SECURITY,
  },
  {
    collections: ['fraud_decisions'],
    purpose: 'Refuse SMS pumping, and explain it',
    data: 'Decisions of the fraud guard: reasons, masked recipient, country; a keyed index',
    receivers: NO_ONE,
    until: RETENTION,
    ground: SECURITY,
  },
  {
    collections: ['fraud_blocks', 'fraud_numbers'],
    purpose: 'Notice SMS pumping',
    data: 'Numbers that messages were sent to: parts of keyed indexes that nothing else uses, in a block of ten thousand whose name is one too. When devices sent to a number or mailbox in live mode: times, under a keyed index',
    receivers: NO_ONE,
    until: 'two hours (blocks), 25 hours after the last message (times)',
    ground: SECURITY,
  },
  {
    collections: ['fraud_tallies', 'fraud_networks'],
    purpose: 'Notice SMS pumping',
    data: 'How much was sent by country and range of numbers, and by devices to a mail domain that is none of a large provider, or from a network (/24 or /48) of a VPN, proxy, Tor exit or datacenter: counts, those of domains and networks under a keyed index',
    receivers: NO_ONE,
    until: `${days(FRAUD_TALLY_RETENTION_MS)}; networks two hours`,
    ground: SECURITY,
  },
  {
    collections: ['claims'],
    purpose: 'Send once when a call is repeated',
    data: 'Idempotency keys: sealed, found by an index that needs the key, with a separate one for each company, mode and kind of API key; the verification’s id; of a send that joined another’s verification, its own id, the channel and the sealed link of its answer',
    receivers: NO_ONE,
    until: '`idempotency_ttl_seconds` (a day), but no longer than the verification',
    ground: CONTRACT,
  },
  {
    collections: ['events', 'webhooks'],
    purpose: 'Tell your backend of outcomes',
    data: 'Events: ids and outcomes. What your endpoint answered: its beginning, sealed, without the recipient, numbers of four digits or more, addresses, links and its secrets',
    receivers: 'your endpoints: the event',
    until: `as verifications, and at least ${days(MIN_EVENT_RETENTION_MS)}, or ${days(EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS)} after the last attempt: they may still have to be sent. Answers: ${RETENTION}; erased with the recipient`,
    ground: CONTRACT,
  },
  {
    collections: ['ledger', 'companies'],
    purpose: 'Account for what messages cost',
    data: 'Ids, price, app, channel, country and provider of each message',
    receivers: NO_ONE,
    until: 'for good',
    ground: ACCOUNTS,
  },
  {
    collections: ['stats_hours', 'stats_days', 'route_slots', 'route_facts'],
    purpose: 'Statistics, and learned routes',
    data: 'Counts by app, hour or day, channel, country and provider: no id, nothing about one person',
    receivers: NO_ONE,
    until: `hours for ${days(STATS_HOUR_RETENTION_MS)}, days for ${days(STATS_DAY_RETENTION_MS)}`,
    ground: 'no personal data',
  },
  {
    collections: ['channel_loads'],
    purpose: 'Run the channels',
    data: 'Ids of the verifications whose messages a process has in hand',
    receivers: NO_ONE,
    until: 'minutes after the process has ended',
    ground: CONTRACT,
  },
  {
    collections: ['erasures'],
    purpose: 'Erase people again whom a restored backup brings back',
    data: 'The app, the keyed index of the recipient who was erased, and when',
    receivers: 'operators who export it',
    until: days(ERASURE_ENTRY_RETENTION_MS),
    ground: PROOF,
  },
  {
    collections: ['audit'],
    purpose: 'Know who changed, read or took away what',
    data: 'Ids and outcomes. For an erasure, an export and a search by recipient: who did it, and a fingerprint of the recipient; for a test of a provider the masked recipient (`+1****71`). For a user of the dashboard: the id and the masked address (`a****@shop.example`)',
    receivers: 'the company’s users',
    until: 'for good',
    ground: PROOF,
  },
  {
    collections: ['users', 'invitation_times'],
    purpose: 'Let your people use the dashboard',
    data: 'Address and name: sealed, found by an index that needs the key. Invitations of the last day: hashes, with times',
    receivers: 'your email provider: the address',
    until: `the user is removed; an invitation is declined or revoked, at most ${days(INVITATION_MS)}; hashes a day`,
    ground: ACCESS,
  },
  {
    collections: [
      'sessions',
      'passkeys',
      'sign_in_flows',
      'sign_in_mails',
      'known_browsers',
      'sign_in_tickets',
      'spent_assertions',
    ],
    purpose: 'Sign your people in',
    data: 'Sessions: a hash of the token, the user’s id, the kind of browser (“Firefox on Linux”), times; no address of a caller. Passkeys: public key, id of the credential, counter, the name that its owner gave, times. Sign-ins: hashes of cookies, the id of the verification, a user’s id with the times of the mails of the last hour. Codes: as verifications of `app_console`',
    receivers: 'your email provider: address and code',
    until:
      'sessions two hours after the last use, 12 hours at most; passkeys until the owner removes them, or the user is removed; sign-ins an hour; a browser that has signed in 180 days; codes the `retention_days` of `app_console` (7)',
    ground: ACCESS,
  },
  {
    collections: ['notices'],
    purpose: 'Tell owners of incidents',
    data: 'Ids of owners, with times',
    receivers: 'your email provider: the address',
    until: '90 days after the incident was last seen',
    ground: ACCESS,
  },
]

const BEGIN = '<!-- The table is written by npm run openapi, from test/docs/privacy-table.ts. -->\n\n'
const HEADER =
  '| Purpose | Data, and how it is kept | Who receives it, beside your dashboard’s users | Until | Usual ground (GDPR, article 6 (1)) |\n|---|---|---|---|---|\n'

export function withPrivacyTable(page: string): string {
  const [before, after = ''] = page.split(BEGIN)
  const rows = ROWS.map(
    ({ purpose, data, receivers, until, ground }) => `| ${[purpose, data, receivers, until, ground].join(' | ')} |\n`,
  )
  return `${before}${BEGIN}${HEADER}${rows.join('')}${after.replace(/^(?:\|.*\n)*/, '')}`
}

/** Collections that keep something of a recipient, and are in no row. */
export const collectionsWithoutRow = (): string[] =>
  Object.entries(PERSONAL_DATA).flatMap(([name, kept]) =>
    kept !== 'never' && !ROWS.some(({ collections }) => (collections as readonly string[]).includes(name))
      ? [name]
      : [],
  )

// The table of docs/privacy.md that a controller needs: what is kept about people, why, who receives it, how long, on what ground. In: the
// declared collections and retention times, and the page. Out: the page with the table as it must be. The text around it is written by hand.
import { DAY_MS } from '../../infra/time.ts'
import { PERSONAL_DATA } from '../../services/domain/personal-data.ts'
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

/** Collections, purpose, data and how they are kept, who receives them, until when, and on what ground. */
const ROWS = `
otps joined_ids metadata_indexes | Prove that a person has a number or an address | Recipient, client address, salt, WhatsApp link, the id of a WhatsApp user who hid their number, metadata: sealed (AES-256-GCM, \`DATA_KEYS\`), found by an index that needs the key, metadata by one for each value. Masked recipient (\`+1****23\`), country, channel, times, outcomes: readable | the vendor that sends the message: recipient and text; your endpoints: ids and outcomes, and with \`full\` payloads country and metadata | ${RETENTION} | ${CONTRACT}
otps | Deliver a code that your backend made ([messages](api.md#your-own-codes)) | The code, sealed | the vendor | the message is delivered, has failed or is ten minutes old; in test mode the inbox keeps it, sealed, as long as the message | ${CONTRACT}
attempts sandbox_messages | Find out why no code arrived; try an app in test mode | Calls of providers, what a vendor answered or wrote in a receipt, messages in the sandbox: ids, the vendor’s id of the message, its error code, its text without numbers of four digits or more, addresses and links; a keyed index | ${NO_ONE} | ${RETENTION} | ${CONTRACT}
refusals | Find out why a send was refused; [try settings](try-settings.md) | Time, request id, key, type of error, country, masked recipient: readable. Recipient, or the text given in its place: a keyed index. Of live sends also recipient and client address, sealed | ${NO_ONE} | ${days(REFUSAL_RETENTION_MS)}, or the app’s \`retention_days\` if that is shorter | ${SECURITY}
recipient_rules | Send no messages to a person who said [STOP](providers.md#stop-and-start) | Recipient: sealed, and masked; channel, provider, times; a keyed index | ${NO_ONE} | START, and ${days(LIFTED_RULE_RETENTION_MS)} after it, so that a repeated STOP of before changes nothing; in test mode 3 days. An erasure takes the recipient out, and the STOP holds on by its index | ${OBJECTION}
counters | Limit sends and guesses | Counts by recipient and by client address; their name is a keyed index | ${NO_ONE} | twice the longest window of the limit, 14 days at most | ${SECURITY}
fraud_decisions | Refuse SMS pumping, and explain it | Decisions of the fraud guard: reasons, masked recipient, country; a keyed index | ${NO_ONE} | ${RETENTION} | ${SECURITY}
fraud_blocks fraud_numbers | Notice SMS pumping | Numbers that messages were sent to: parts of keyed indexes that nothing else uses, in a block of ten thousand whose name is one too. When devices sent to a number or mailbox in live mode: times, under a keyed index | ${NO_ONE} | two hours (blocks), 25 hours after the last message (times) | ${SECURITY}
fraud_tallies fraud_networks | Notice SMS pumping | How much was sent by country and range of numbers, and by devices to a mail domain that is none of a large provider, or from a network (/24 or /48) of a VPN, proxy, Tor exit or datacenter: counts, those of domains and networks under a keyed index | ${NO_ONE} | ${days(FRAUD_TALLY_RETENTION_MS)}; networks two hours | ${SECURITY}
claims | Send once when a call is repeated | Idempotency keys: sealed, found by an index that needs the key, with a separate one for each company, mode and kind of API key; the verification’s id; of a send that joined another’s verification, its own id, the channel and the sealed link of its answer | ${NO_ONE} | \`idempotency_ttl_seconds\` (a day), but no longer than the verification | ${CONTRACT}
events webhooks | Tell your backend of outcomes | Events: ids and outcomes. What your endpoint answered: its beginning, sealed, without the recipient, numbers of four digits or more, addresses, links and its secrets | your endpoints: the event | as verifications, and at least ${days(MIN_EVENT_RETENTION_MS)}, or ${days(EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS)} after the last attempt: they may still have to be sent. Answers: ${RETENTION}; erased with the recipient | ${CONTRACT}
ledger companies | Account for what messages cost | Ids, price, app, channel, country and provider of each message | ${NO_ONE} | for good | ${ACCOUNTS}
stats_hours stats_days route_slots route_facts | Statistics, and learned routes | Counts by app, hour or day, channel, country and provider: no id, nothing about one person | ${NO_ONE} | hours for ${days(STATS_HOUR_RETENTION_MS)}, days for ${days(STATS_DAY_RETENTION_MS)} | no personal data
channel_loads | Run the channels | Ids of the verifications whose messages a process has in hand | ${NO_ONE} | minutes after the process has ended | ${CONTRACT}
erasures | Erase people again whom a restored backup brings back | The app, the keyed index of the recipient who was erased, and when | operators who export it | ${days(ERASURE_ENTRY_RETENTION_MS)} | ${PROOF}
audit | Know who changed, read or took away what | Ids and outcomes. For an erasure, an export and a search by recipient: who did it, and a fingerprint of the recipient; for a test of a provider the masked recipient (\`+1****71\`). For a user of the dashboard: the id and the masked address (\`a****@shop.example\`) | the company’s users | for good | ${PROOF}
users invitation_times | Let your people use the dashboard | Address and name: sealed, found by an index that needs the key. Invitations of the last day: hashes, with times | your email provider: the address | the user is removed; an invitation is declined or revoked, at most ${days(INVITATION_MS)}; hashes a day | ${ACCESS}
sessions passkeys sign_in_flows sign_in_mails known_browsers sign_in_tickets spent_assertions | Sign your people in | Sessions: a hash of the token, the user’s id, the kind of browser (“Firefox on Linux”), times; no address of a caller. Passkeys: public key, id of the credential, counter, the name that its owner gave, times. Sign-ins: hashes of cookies, the id of the verification, a user’s id with the times of the mails of the last hour. Codes: as verifications of \`app_console\` | your email provider: address and code | sessions two hours after the last use, 12 hours at most; passkeys until the owner removes them, or the user is removed; sign-ins an hour; a browser that has signed in 180 days; codes the \`retention_days\` of \`app_console\` (7) | ${ACCESS}
notices | Tell owners of incidents | Ids of owners, with times | your email provider: the address | 90 days after the incident was last seen | ${ACCESS}
`
  .trim()
  .split('\n')
  .map(line => line.split(' | '))

const BEGIN = '<!-- The table is written by npm run openapi, from test/docs/privacy-table.ts. -->\n\n'
const HEADER =
  '| Purpose | Data, and how it is kept | Who receives it, beside your dashboard’s users | Until | Usual ground (GDPR, article 6 (1)) |\n|---|---|---|---|---|\n'

export function withPrivacyTable(page: string): string {
  const [before, after = ''] = page.split(BEGIN)
  const rows = ROWS.map(([_, ...cells]) => `| ${cells.join(' | ')} |\n`)
  return `${before}${BEGIN}${HEADER}${rows.join('')}${after.replace(/^(?:\|.*\n)*/, '')}`
}

/** Collections that keep something of a recipient, and are in no row; and names in rows that are no collection. */
export function misplacedCollections(): string[] {
  const listed = new Set(ROWS.flatMap(([collections = '']) => collections.split(' ')))
  const missing = Object.entries(PERSONAL_DATA).filter(([name, kept]) => kept !== 'never' && !listed.has(name))
  return [...missing.map(([name]) => name), ...[...listed].filter(name => !(name in PERSONAL_DATA))]
}

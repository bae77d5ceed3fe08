// Which members of a logged object are secret or personal by their name, however the name is written
// (`verification_token`, `verificationToken`, `Verification-Token`), and how the name itself is shown.
import { scrub } from './scrub.ts'

const SECRET_NAMES = new Set(
  [
    // what a verification is made of
    'code codes otp otp_code one_time_code passcode verification_code pin salt salts reference action_url link wa_link',
    // whom it is about, and what is said to them
    'recipient recipients to from sender destination mobile phone phones phone_number msisdn wa_id email emails address addresses',
    'client_ip ip remote_address text html subject content body raw_body',
    // what opens doors
    'authorization proxy_authorization cookie cookies set_cookie session session_id csrf signature',
    'key keys apikey token tokens secret secrets password pass passphrase credentials dkim config',
  ].flatMap(line => line.split(' ')),
)
// `key_id`, `token_ttl_seconds` and `masked_recipient` stay readable: only the end of a name counts.
const SECRET_ENDING = /_(key|keys|token|tokens|secret|secrets|password|passphrase|signature|cookie|ip|credentials)$/

/** Names repeat from line to line; anything beyond this many comes from outside and is not worth remembering. */
const MAX_CACHED_NAMES = 2000
const cache = new Map<string, MemberName>()

export interface MemberName {
  /** The name without secrets of its own: a table keyed by recipient has them there. */
  safeName: string
  /** Whether the value must not be seen. */
  secret: boolean
}

export function classifyMember(name: string): MemberName {
  const before = cache.get(name)
  if (before) return before
  const member = { safeName: scrub(name), secret: isSecret(name) }
  if (cache.size < MAX_CACHED_NAMES && name.length <= 64) cache.set(name, member)
  return member
}

function isSecret(name: string): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-. ]/g, '_')
    .toLowerCase()
  return SECRET_NAMES.has(plain) || SECRET_ENDING.test(plain)
}

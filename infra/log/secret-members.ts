// In: the name of a member of a logged object. Out: whether its value is secret or personal, and the name as it may be shown. The spelling
// does not matter: `verification_token`, `verificationToken` and `Verification-Token` are the same name.
import { scrub } from './scrub.ts'

const SECRET_NAMES = new Set(
  [
    // of a verification
    'code codes otp otp_code one_time_code passcode verification_code pin salt salts reference action_url link wa_link',
    // of a recipient, and of the message to a recipient
    'recipient recipients to from sender destination mobile phone phones phone_number msisdn wa_id email emails address addresses',
    'client_ip ip remote_address text html subject content body raw_body',
    // credentials
    'authorization proxy_authorization cookie cookies set_cookie session session_id csrf signature',
    'key keys apikey token tokens secret secrets password pass passphrase credentials dkim config',
  ].flatMap(line => line.split(' ')),
)
// Only the end of a name counts, so `key_id` and `token_ttl_seconds` stay readable.
const SECRET_ENDING = /_(key|keys|token|tokens|secret|secrets|password|passphrase|signature|cookie|ip|credentials)$/

/** The names in our code are fewer. Names beyond this number come from outside and are not cached. */
const MAX_CACHED_NAMES = 2000
const cache = new Map<string, MemberName>()

export interface MemberName {
  /** The name after scrubbing: a map by recipient has recipients as names. */
  safeName: string
  /** Whether the value must be hidden. */
  secret: boolean
}

export function classifyMember(name: string): MemberName {
  const cached = cache.get(name)
  if (cached) return cached
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

// Challenges: what a caller with a publishable key solves before its call is served. By default it is work, of which
// the server keeps nothing until it is solved: the salt carries its terms, and a signature vouches for the salt. Or it
// is the widget of a vendor, in a page.
//
//   salt       base64url of: difficulty (1 byte), expiry in ms since the epoch (6 bytes), random bytes (17)
//   solution   `<salt>.<nonce>.<signature>`, where SHA-256 of `<salt>.<nonce>` begins with as many zero bits as the difficulty

/** The vendors of widgets. */
export const WIDGET_VENDORS = ['turnstile', 'hcaptcha'] as const
export type WidgetVendor = (typeof WIDGET_VENDORS)[number]

/** What a caller is asked to solve, as the API shows it but for the form of the time. */
export type Challenge = PowChallenge | { type: WidgetVendor; site_key: string }

/** The token that a vendor's widget has given a page, as the edge has checked it with the vendor. */
export interface CheckedToken {
  /** A hash of the token, by which it is spent. */
  id: string
  /** `other_host`: it is good, and of a page that the app does not list. `unchecked`: the vendor did not say in time. */
  outcome: 'passed' | 'refused' | 'other_host' | 'unchecked'
}

/** Longer than those of any vendor. A header of 8 KiB is too long for many proxies. */
export const MAX_TOKEN_LENGTH = 6_000
/** A vendor accepts a token once; a spent one is remembered here until it would have expired there. */
export const TOKEN_LIFE_MS = 600_000

export interface PowChallenge {
  type: 'pow'
  algorithm: 'SHA-256'
  salt: string
  /** How many zero bits. */
  difficulty: number
  signature: string
  expires_at: number
}

export type ChallengeTerms = Pick<PowChallenge, 'difficulty' | 'expires_at'>

export interface Solution extends ChallengeTerms {
  salt: string
  /** In decimal digits, as the caller wrote it. */
  nonce: string
  signature: string
}

export const CHALLENGE_LIFE_MS = 300_000

/** Desktop Chromium tries some 1.5 million nonces a second (clients/typescript/src/challenge-solver.ts): on average 45 ms for the easiest,
 *  22 s for the hardest. */
export const EASIEST_DIFFICULTY = 16
export const HARDEST_DIFFICULTY = 25

export const SALT_RANDOM_BYTES = 17
const EXPIRY_BYTES = 6
const SALT_BYTES = 1 + EXPIRY_BYTES + SALT_RANDOM_BYTES

/** 24 bytes, 16 digits and an HMAC-SHA-256, in base64url and with two dots. */
export const MAX_SOLUTION_LENGTH = 32 + 1 + 16 + 1 + 43
const SOLUTION = /^([\w-]{32})\.(\d{1,16})\.([\w-]{43})$/

/** `pressure`: 0 for the easiest, 1 for the hardest. */
export function difficultyFor(pressure: number): number {
  const share = Math.min(1, Math.max(0, pressure))
  return EASIEST_DIFFICULTY + Math.round(share * (HARDEST_DIFFICULTY - EASIEST_DIFFICULTY))
}

/** `random`: `SALT_RANDOM_BYTES` bytes. */
export function encodeSalt({ difficulty, expires_at }: ChallengeTerms, random: Uint8Array): string {
  const bytes = new Uint8Array(SALT_BYTES)
  bytes[0] = difficulty
  for (let i = 0; i < EXPIRY_BYTES; i += 1) bytes[EXPIRY_BYTES - i] = Math.floor(expires_at / 256 ** i) % 256
  bytes.set(random, 1 + EXPIRY_BYTES)
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

/** Null for a text that cannot be a solution. Whether it is one, the digest and the signature show. */
export function parseSolution(text: string): Solution | null {
  const [, salt = '', nonce = '', signature = ''] = SOLUTION.exec(text) ?? []
  return salt === '' ? null : { salt, nonce, signature, ...termsIn(salt) }
}

function termsIn(salt: string): ChallengeTerms {
  const bytes = Uint8Array.from(atob(salt.replaceAll('-', '+').replaceAll('_', '/')), one => one.charCodeAt(0))
  const [difficulty = 0, ...rest] = bytes
  return { difficulty, expires_at: rest.slice(0, EXPIRY_BYTES).reduce((sum, byte) => sum * 256 + byte, 0) }
}

export function leadingZeroBits(bytes: Uint8Array): number {
  const first = bytes.findIndex(byte => byte > 0)
  // `clz32` counts the bits of 32, of which a byte has the last 8.
  return first === -1 ? bytes.length * 8 : first * 8 + Math.clz32(bytes[first] ?? 0) - 24
}

/** `digest`: SHA-256 of `<salt>.<nonce>`. */
export const isSolved = ({ difficulty }: ChallengeTerms, digest: Uint8Array): boolean =>
  leadingZeroBits(digest) >= difficulty

/** How many bits easier a solution may be than what would be asked for now: what the guard sees changes while a device computes. */
const EASIER_BITS = 2

/** Whether a solution counts for what is asked for now. Otherwise challenges could be hoarded at a quiet hour and spent in an attack.
 *  `pressure`: as of `difficultyFor`. */
export const isHardEnough = ({ difficulty }: Pick<ChallengeTerms, 'difficulty'>, pressure: number): boolean =>
  difficulty >= difficultyFor(pressure) - EASIER_BITS

export const isHardest = ({ difficulty }: Pick<ChallengeTerms, 'difficulty'>): boolean =>
  difficulty >= HARDEST_DIFFICULTY

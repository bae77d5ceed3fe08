// What is shown in place of a secret, and kept in the audit log: enough to see whether two secrets are the same. It is a part of a keyed
// index, because passwords are guessable: a plain hash of one would confirm a guess. It changes when data keys rotate.
import type { Keyring } from '../../../infra/crypto/keyring.ts'

const SHOWN_CHARS = 8

export type Fingerprinter = Pick<Keyring, 'index'>

export const fingerprint = (keyring: Fingerprinter, secret: string): string =>
  `hmac:${keyring.index('fingerprint of a secret', secret).slice(0, SHOWN_CHARS)}`

/** A fingerprint, or an address with a fingerprint as its query. */
export const FINGERPRINT_PATTERN = /(?:^|\?)hmac:[\w-]{8}$/

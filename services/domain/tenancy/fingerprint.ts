// What is shown in place of a secret: enough to see whether two secrets are the same, too little to guess one.
import { createHash } from 'node:crypto'

const SHOWN_DIGITS = 8

export const fingerprint = (secret: string): string =>
  `sha256:${createHash('sha256').update(secret).digest('hex').slice(0, SHOWN_DIGITS)}`

/** A fingerprint, or an address with a fingerprint as its query. */
export const FINGERPRINT_PATTERN = /(?:^|\?)sha256:[0-9a-f]{8}$/

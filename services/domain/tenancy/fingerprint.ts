// What is shown in place of a secret: enough to see whether two are the same, too little to find out what it is.
import { createHash } from 'node:crypto'

const SHOWN_DIGITS = 8

export const fingerprint = (secret: string): string =>
  `sha256:${createHash('sha256').update(secret).digest('hex').slice(0, SHOWN_DIGITS)}`

/** A value that is one, or an address whose query is. */
export const FINGERPRINT_PATTERN = /(?:^|\?)sha256:[0-9a-f]{8}$/

import { Buffer } from 'node:buffer'

/** Padded, and as encoders write it: public libraries refuse anything else. */
export const isBase64 = (encoded: string): boolean => Buffer.from(encoded, 'base64').toString('base64') === encoded

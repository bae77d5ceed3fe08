// All keys of a deployment behind the few things done with them. In each list the first key is current: it seals, indexes and
// makes codes; the others still open what they once closed, so keys rotate under running verifications.
import { Buffer } from 'node:buffer'
import { createHmac, hkdfSync } from 'node:crypto'
import type { NamedKey } from '../config/secrets.ts'
import { type CodeInputs, deriveCode } from './code.ts'
import { encodeLengthPrefixed } from './length-prefix.ts'
import { keyIdOf, seal, Unsealable, unseal } from './seal.ts'
import { deriveToken, type TokenInputs } from './token.ts'

export { Unsealable }

/** The one reason not to open that can be put right: its key is not configured, or no more. */
export class MissingKey extends Unsealable {
  override name = 'MissingKey'
  readonly keyId: string

  constructor(keyId: string) {
    super(`no data key has the id "${keyId}"`)
    this.keyId = keyId
  }
}

/** A verification was started with a code secret that is no longer configured. */
export class UnknownSecret extends Error {
  override name = 'UnknownSecret'
  readonly keyId: string

  constructor(keyId: string) {
    super(`no code secret has the id "${keyId}"`)
    this.keyId = keyId
  }
}

export interface Keyring {
  /** Of the data keys, the current one first. */
  keyIds: readonly string[]
  /** `context` names the one place this text belongs to (document and field); it opens nowhere else. */
  seal(plain: string, context: string): string
  /** Throws `Unsealable`. */
  unseal(sealed: string, context: string): string
  /** Whether it was sealed with the current key; what was not should be sealed again. */
  isCurrent(sealed: string): boolean
  /** A value as something to look it up by, that tells nothing to who lacks the key. `scope` keeps tenants and fields apart. */
  index(scope: string, value: string): string
  /** The same under every key, the current one first: while keys rotate, older documents are found under the older ones. */
  indexes(scope: string, value: string): string[]
  /** The id to store with a new verification. */
  currentCodeSecret(): string
  /** Throws `UnknownSecret`. */
  code(secretId: string, inputs: CodeInputs): string
  /** Throws `UnknownSecret`. */
  token(secretId: string, of: TokenInputs): string
}

export function createKeyring(keys: { dataKeys: readonly NamedKey[]; codeSecrets: readonly NamedKey[] }): Keyring {
  const data = keys.dataKeys.map(({ id, key }) => ({
    id,
    sealKey: derive(key, 'seal'),
    indexKey: derive(key, 'index'),
  }))
  const [current] = data
  const [currentCode] = keys.codeSecrets
  if (!current || !currentCode) throw new TypeError('a keyring needs a data key and a code secret')

  const indexWith = (key: Buffer, scope: string, value: string): string =>
    createHmac('sha256', key)
      .update(encodeLengthPrefixed([scope, value]))
      .digest('base64url')
  const codeSecret = (id: string): Buffer => {
    const secret = keys.codeSecrets.find(candidate => candidate.id === id)
    if (!secret) throw new UnknownSecret(id)
    return secret.key
  }
  return {
    keyIds: data.map(({ id }) => id),
    seal: (plain, context) => seal(plain, context, current.id, current.sealKey),
    unseal(sealed, context) {
      const id = keyIdOf(sealed)
      const key = data.find(candidate => candidate.id === id)
      if (!key) throw new MissingKey(id)
      return unseal(sealed, context, key.sealKey)
    },
    isCurrent: sealed => keyIdOf(sealed) === current.id,
    index: (scope, value) => indexWith(current.indexKey, scope, value),
    indexes: (scope, value) => data.map(key => indexWith(key.indexKey, scope, value)),
    currentCodeSecret: () => currentCode.id,
    code: (secretId, of) => deriveCode(of, codeSecret(secretId)),
    token: (secretId, of) => deriveToken(of, codeSecret(secretId)),
  }
}

/** One key per purpose, so that nothing computed for one says anything about the other. */
const derive = (key: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `countersign ${purpose} v1`, 32))

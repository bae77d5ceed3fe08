// The keys that a process holds, behind the operations that use them. In each list the first key is the current one: it seals, indexes,
// derives codes and makes MACs. The other keys still unseal older texts, derive older codes and check older MACs, so that keys can rotate
// while verifications run.
import { Buffer } from 'node:buffer'
import { createHmac, hkdfSync } from 'node:crypto'
import type { NamedKey } from '../config/secrets.ts'
import { type CodeInputs, deriveCode } from './code.ts'
import { isSameSecret } from './compare-secrets.ts'
import { encodeLengthPrefixed } from './length-prefix.ts'
import { type ContextKeys, createContextKeys, keyIdOf, seal, Unsealable, unseal } from './seal.ts'
import { deriveToken, type TokenInputs } from './token.ts'

export { Unsealable }

/** The data key of a sealed text is not configured. An operator can repair this; a text that was tampered with stays unsealable. */
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

/** Who made a MAC: the current code secret, another one that is configured, one that is not, or none of ours. */
export type MacMaker = 'current' | 'former' | 'unknown_key' | 'forged'

/** A role that is not given CODE_SECRETS derived a code, a token or a MAC (infra/config/role-secrets.ts): a bug, which
 *  no setting repairs. */
export class NoCodeSecrets extends Error {
  override name = 'NoCodeSecrets'

  constructor() {
    super('this process holds no code secrets: none of its roles may derive codes, tokens or MACs')
  }
}

export interface Keyring {
  /** The ids of the data keys, the current one first. */
  keyIds: readonly string[]
  /** `context` names the place of the text (document and field). The text can be unsealed with the same context only. */
  seal(plain: string, context: string): string
  /** Throws `Unsealable`. */
  unseal(sealed: string, context: string): string
  /** Whether the text was sealed with the current key. If not, it should be sealed again. */
  isCurrent(sealed: string): boolean
  /** A keyed hash to look a value up by. It tells nothing without the key. `scope` keeps tenants and fields apart. */
  index(scope: string, value: string): string
  /** The index under every data key, the current one first. While keys rotate, older documents are found under the older keys. */
  indexes(scope: string, value: string): string[]
  /** A signature of the texts under every data key, the current one first: a new one signs with the first, and any of them verifies. */
  signatures(texts: readonly string[]): string[]
  /** The id of the code secret to store with a new verification. Throws `NoCodeSecrets`. */
  currentCodeSecret(): string
  /** Throws `UnknownSecret` or `NoCodeSecrets`. */
  code(secretId: string, inputs: CodeInputs): string
  /** Throws `UnknownSecret` or `NoCodeSecrets`. */
  token(secretId: string, inputs: TokenInputs): string
  /** Proves later that a process with code secrets has written these texts, in this order: `<key id>.<MAC>`. `purpose` names what they
   *  are. Throws `NoCodeSecrets`. */
  mac(purpose: string, texts: readonly string[]): string
  /** Throws `NoCodeSecrets`. */
  makerOf(mac: string, purpose: string, texts: readonly string[]): MacMaker
}

/** `codeSecrets` may be empty: the keyring then seals and indexes only. */
export function createKeyring(keys: { dataKeys: readonly NamedKey[]; codeSecrets: readonly NamedKey[] }): Keyring {
  const data = keys.dataKeys.map(({ id, key }) => ({
    id,
    sealKeys: createContextKeys(derive(key, 'seal')),
    indexKey: derive(key, 'index'),
    signatureKey: derive(key, 'signature'),
  }))
  const [current] = data
  if (!current) throw new TypeError('a keyring needs a data key')

  const indexWith = (key: Buffer, scope: string, value: string): string =>
    createHmac('sha256', key)
      .update(encodeLengthPrefixed([scope, value]))
      .digest('base64url')
  const sealKeysOf = (id: string): ContextKeys => {
    const key = data.find(candidate => candidate.id === id)
    if (!key) throw new MissingKey(id)
    return key.sealKeys
  }
  const currentCodeSecret = (): string => {
    const [first] = keys.codeSecrets
    if (!first) throw new NoCodeSecrets()
    return first.id
  }
  const codeSecret = (id: string): Buffer => {
    if (keys.codeSecrets.length === 0) throw new NoCodeSecrets()
    const secret = keys.codeSecrets.find(candidate => candidate.id === id)
    if (!secret) throw new UnknownSecret(id)
    return secret.key
  }
  const macKeys = new Map(keys.codeSecrets.map(({ id, key }) => [id, derive(key, 'mac')]))
  const macWith = (id: string, purpose: string, texts: readonly string[]): string =>
    `${id}.${createHmac('sha256', macKeys.get(id) ?? Buffer.alloc(0))
      .update(encodeLengthPrefixed([purpose, ...texts]))
      .digest('base64url')}`
  return {
    keyIds: data.map(({ id }) => id),
    seal: (plain, context) => seal(plain, context, current.id, current.sealKeys),
    unseal: (sealed, context) => unseal(sealed, context, sealKeysOf),
    isCurrent: sealed => keyIdOf(sealed) === current.id,
    index: (scope, value) => indexWith(current.indexKey, scope, value),
    indexes: (scope, value) => data.map(key => indexWith(key.indexKey, scope, value)),
    signatures: texts =>
      data.map(key => createHmac('sha256', key.signatureKey).update(encodeLengthPrefixed(texts)).digest('base64url')),
    currentCodeSecret,
    code: (secretId, inputs) => deriveCode(inputs, codeSecret(secretId)),
    token: (secretId, inputs) => deriveToken(inputs, codeSecret(secretId)),
    mac: (purpose, texts) => macWith(currentCodeSecret(), purpose, texts),
    makerOf(mac, purpose, texts) {
      const current = currentCodeSecret()
      const [id = ''] = mac.split('.')
      if (!macKeys.has(id)) return 'unknown_key'
      if (!isSameSecret(mac, macWith(id, purpose, texts))) return 'forged'
      return id === current ? 'current' : 'former'
    },
  }
}

/** One key per purpose, so that a value computed for one purpose tells nothing about the other. */
const derive = (key: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `countersign ${purpose} v1`, 32))

// The three secrets a deployment has, as they are written in the environment and in the development secrets file.
// A complaint names an entry by its place, never by its id: someone who swaps the two writes the secret where the id should be.
import { Buffer } from 'node:buffer'
import { fromText } from './values.ts'

export interface NamedKey {
  readonly id: string
  readonly key: Buffer
}

export interface AdminToken {
  /** Who acts with it, in the audit log. */
  readonly name: string
  readonly token: string
}

/** In each list the first is the current one. */
export interface Secrets {
  readonly code: readonly NamedKey[]
  readonly data: readonly NamedKey[]
  readonly adminTokens: readonly AdminToken[]
}

const KEY_BYTES = 32
const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/

export const codeSecrets = () => namedKeys(bytes => (bytes < KEY_BYTES ? `at least ${KEY_BYTES}` : null))
export const dataKeys = () => namedKeys(bytes => (bytes !== KEY_BYTES ? `exactly ${KEY_BYTES}` : null))

/** `id:base64,…`. `wanted` says how many bytes a key should have when it has not. */
const namedKeys = (wrongLength: (bytes: number) => string | null) =>
  fromText((text, addProblem): readonly NamedKey[] => {
    const keys = text.split(',').map((part, at) => {
      const [id = '', base64 = ''] = splitAtColon(part.trim())
      const key = decodeBase64(base64)
      const bytes = wrongLength(key.length)
      if (!KEY_ID.test(id) || key.length === 0)
        addProblem(`entry ${at + 1} must be id:base64, its id of A–Z, a–z, 0–9, _ and -`)
      else if (bytes) addProblem(`the key of entry ${at + 1} must be ${bytes} bytes long, not ${key.length}`)
      return { id, key }
    })
    for (const at of indexesOfRepeats(keys.map(key => key.id)))
      addProblem(`entry ${at + 1} has the id of one before it`)
    return keys
  })

/** Ids of data keys, without the keys. */
export const dataKeyIds = () =>
  fromText((text, addProblem): readonly string[] => {
    const ids = text.split(',').map(part => part.trim())
    for (const [at, id] of ids.entries())
      if (!KEY_ID.test(id)) addProblem(`entry ${at + 1} must be the id of a key, without the key`)
    return ids
  })

/** The name of a token that was given without one. */
const DEFAULT_OPERATOR_NAME = 'operator'

/** One token as it is, or `name:token,…`. */
export const adminTokens = () =>
  fromText((text, addProblem): readonly AdminToken[] => {
    const parts = text.split(',').map(part => part.trim())
    const tokens = parts.map((part, at) => {
      const named = parts.length > 1 || part.includes(':')
      const [name = '', token = ''] = named ? splitAtColon(part) : [DEFAULT_OPERATOR_NAME, part]
      if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name))
        addProblem(`entry ${at + 1} must be name:token, its name of A–Z, a–z, 0–9, _ . and -`)
      else if (!/^[!-~]+$/.test(token)) addProblem(`the token of entry ${at + 1} must be visible ASCII without spaces`)
      return { name, token }
    })
    for (const at of indexesOfRepeats(tokens.map(({ name }) => name)))
      addProblem(`entry ${at + 1} has the name of one before it`)
    // Else nobody could tell from the audit log which of the two acted.
    for (const at of indexesOfRepeats(tokens.map(({ token }) => token)))
      addProblem(`entry ${at + 1} has the token of one before it`)
    return tokens
  })

const splitAtColon = (text: string): string[] => {
  const colon = text.indexOf(':')
  return colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** Either alphabet, padded or not; nothing for a text that Node would decode by skipping what it does not know. */
function decodeBase64(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64')
  const plain = base64.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')
  return bytes.toString('base64url') === plain ? bytes : Buffer.alloc(0)
}

/** The places whose text was there before. */
const indexesOfRepeats = (texts: string[]): number[] =>
  texts.flatMap((text, at) => (text && texts.indexOf(text) < at ? [at] : []))

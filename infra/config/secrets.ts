// The three secrets of a deployment, in the format of the environment and of the development secrets file.
// A problem names an entry by its position, never by its id: an operator who swaps id and secret has the secret where the id should be.
import { Buffer } from 'node:buffer'
import { fromText } from './values.ts'

export interface NamedKey {
  readonly id: string
  readonly key: Buffer
}

export interface AdminToken {
  /** The operator's name in the audit log. */
  readonly name: string
  readonly token: string
}

/** The first of each list is the one in use. `code` is empty in a process that has no use for it, `adminTokens` where there are no
 *  operators. */
export interface Secrets {
  readonly code: readonly NamedKey[]
  readonly data: readonly NamedKey[]
  readonly adminTokens: readonly AdminToken[]
}

/** What to run for a new one, where it is missing. */
export const HOW_TO_MAKE = {
  CODE_SECRETS: 'Make one: echo "k1:$(openssl rand -base64 32)"',
  DATA_KEYS: 'Make one: echo "k1:$(openssl rand -base64 32)"',
  ADMIN_TOKEN: 'Make one: openssl rand -hex 24',
} as const

const KEY_BYTES = 32
const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/

export const codeSecrets = () => namedKeys(bytes => (bytes < KEY_BYTES ? `at least ${KEY_BYTES}` : null))
export const dataKeys = () => namedKeys(bytes => (bytes !== KEY_BYTES ? `exactly ${KEY_BYTES}` : null))

/** `id:base64,…`. `wrongLength` returns the required number of bytes in words if a key has another, else null. */
const namedKeys = (wrongLength: (bytes: number) => string | null) =>
  fromText((text, addProblem): readonly NamedKey[] => {
    const keys = text.split(',').map((part, at) => {
      const [id = '', base64 = ''] = splitAtColon(part.trim())
      const key = decodeBase64(base64)
      const requiredBytes = wrongLength(key.length)
      if (!KEY_ID.test(id) || key.length === 0)
        addProblem(`entry ${at + 1} must be id:base64, its id of A–Z, a–z, 0–9, _ and -`)
      else if (requiredBytes)
        addProblem(`the key of entry ${at + 1} must be ${requiredBytes} bytes long, not ${key.length}`)
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

/** For a token without a name. */
const DEFAULT_OPERATOR_NAME = 'operator'

/** The least length of an operator's token in production: 24 letters and digits made at random cannot be guessed. */
export const MIN_TOKEN_LENGTH = 24

/** One token, which opens one thing. */
export const secretToken = (minLength = 1) =>
  fromText((text, addProblem): string => {
    if (!/^[!-~]+$/.test(text)) addProblem('must be visible ASCII without spaces')
    else if (text.length < minLength) addProblem(`must have at least ${minLength} characters in production`)
    return text
  })

/** One token without a name, or `name:token,…`. */
export const adminTokens = (minLength = 1) =>
  fromText((text, addProblem): readonly AdminToken[] => {
    const parts = text.split(',').map(part => part.trim())
    const tokens = parts.map((part, at) => {
      const named = parts.length > 1 || part.includes(':')
      const [name = '', token = ''] = named ? splitAtColon(part) : [DEFAULT_OPERATOR_NAME, part]
      if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name))
        addProblem(`entry ${at + 1} must be name:token, its name of A–Z, a–z, 0–9, _ . and -`)
      else if (!/^[!-~]+$/.test(token)) addProblem(`the token of entry ${at + 1} must be visible ASCII without spaces`)
      else if (token.length < minLength)
        addProblem(`the token of entry ${at + 1} must have at least ${minLength} characters in production`)
      return { name, token }
    })
    for (const at of indexesOfRepeats(tokens.map(({ name }) => name)))
      addProblem(`entry ${at + 1} has the name of one before it`)
    // With one token for two names, the audit log could not tell them apart.
    for (const at of indexesOfRepeats(tokens.map(({ token }) => token)))
      addProblem(`entry ${at + 1} has the token of one before it`)
    return tokens
  })

const splitAtColon = (text: string): string[] => {
  const colon = text.indexOf(':')
  return colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** Accepts both alphabets, with or without padding. Returns no bytes for a text with other characters, which Node would skip. */
function decodeBase64(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64')
  const plain = base64.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')
  return bytes.toString('base64url') === plain ? bytes : Buffer.alloc(0)
}

/** The positions whose text stands at an earlier position too. */
const indexesOfRepeats = (texts: string[]): number[] =>
  texts.flatMap((text, at) => (text && texts.indexOf(text) < at ? [at] : []))

// The three secrets a deployment has, as they are written in the environment and in the development secrets file.
// Nothing here repeats a value in a complaint.
import { Buffer } from 'node:buffer'
import { value } from './values.ts'

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

export const codeSecrets = () => namedKeys(bytes => (bytes < KEY_BYTES ? `at least ${KEY_BYTES}` : null))
export const dataKeys = () => namedKeys(bytes => (bytes !== KEY_BYTES ? `exactly ${KEY_BYTES}` : null))

/** `id:base64,…`. `wanted` says how many bytes a key should have when it has not. */
const namedKeys = (wanted: (bytes: number) => string | null) =>
  value((text, complain): readonly NamedKey[] => {
    const keys = text.split(',').map((part, at) => {
      const [id = '', base64 = ''] = halves(part.trim())
      const key = bytesOf(base64)
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(id))
        complain(`entry ${at + 1} must be id:base64, its id of A–Z, a–z, 0–9, _ and -`)
      else if (!key) complain(`the key of "${id}" is not base64`)
      else {
        const bytes = wanted(key.length)
        if (bytes) complain(`the key of "${id}" must be ${bytes} bytes long, not ${key.length}`)
      }
      return { id, key: key ?? Buffer.alloc(0) }
    })
    for (const id of repeated(keys.map(key => key.id))) complain(`the id "${id}" is there twice`)
    return keys
  })

/** The name of a token that was given without one. */
const SOLE_OPERATOR = 'operator'

/** One token as it is, or `name:token,…`. */
export const adminTokens = () =>
  value((text, complain): readonly AdminToken[] => {
    const parts = text.split(',').map(part => part.trim())
    const tokens = parts.map((part, at) => {
      const named = parts.length > 1 || part.includes(':')
      const [name = '', token = ''] = named ? halves(part) : [SOLE_OPERATOR, part]
      if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name))
        complain(`entry ${at + 1} must be name:token, its name of A–Z, a–z, 0–9, _ . and -`)
      else if (!/^[!-~]+$/.test(token)) complain(`the token of "${name}" must be visible ASCII without spaces`)
      return { name, token }
    })
    for (const name of repeated(tokens.map(token => token.name))) complain(`the name "${name}" is there twice`)
    if (repeated(tokens.map(token => token.token)).length > 0)
      complain('two names share one token: nobody could tell them apart')
    return tokens
  })

const halves = (text: string): string[] => {
  const colon = text.indexOf(':')
  return colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** Either alphabet, padded or not; null for anything Node would decode by skipping what it does not know. */
function bytesOf(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, 'base64')
  const plain = base64.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')
  return plain !== '' && bytes.toString('base64url') === plain ? bytes : null
}

const repeated = (texts: string[]): string[] => [
  ...new Set(texts.filter((text, at) => text && texts.indexOf(text) !== at)),
]

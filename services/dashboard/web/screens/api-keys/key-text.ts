// API keys in words. In: keys as the admin API answers them. Out: what the list and the dialogs show of them.
import { SAMPLE_NUMBER } from '../../../../../machines/sample-number.ts'
import type { Schemas } from '../../api/schema.ts'

export type ApiKey = Schemas['ApiKey']
export type KeyKind = ApiKey['kind']
export type KeyMode = ApiKey['mode']

export const KINDS: readonly KeyKind[] = ['server', 'publishable']
export const MODES: readonly KeyMode[] = ['test', 'live']

export const KIND_NAMES: Readonly<Record<KeyKind, string>> = { server: 'Server', publishable: 'Publishable' }
export const MODE_NAMES: Readonly<Record<KeyMode, string>> = { test: 'Test', live: 'Live' }

export const KIND_MEANINGS: Readonly<Record<KeyKind, string>> = {
  server: 'For your backend only, where it stays secret. It may do everything: send, verify, cancel, exchange tokens.',
  publishable:
    'For apps and web pages, where anyone can read it. It may send and verify; the token it gets proves a number only once your backend has exchanged it.',
}

export const MODE_MEANINGS: Readonly<Record<KeyMode, string>> = {
  test: 'Codes go to the sandbox: no message leaves, nothing is charged, and you read the codes on the screen Try it.',
  live: 'Codes go to people, through your providers, and are charged.',
}

const PREFIXES: Readonly<Record<KeyKind, string>> = { server: 'sk', publishable: 'pk' }

/** What can be recognised of a key whose value is no longer known. */
export const maskedKey = ({ kind, mode, last4 }: Pick<ApiKey, 'kind' | 'mode' | 'last4'>): string =>
  `${PREFIXES[kind]}_${mode}_…${last4}`

/** What the viewer calls the key. */
export const titleOf = (key: Pick<ApiKey, 'name' | 'kind' | 'mode' | 'last4'>): string => key.name ?? maskedKey(key)

/** Valid keys before revoked ones, the newest first. */
export const inOrder = (keys: readonly ApiKey[]): ApiKey[] =>
  keys.toSorted(
    (a, b) => Number(a.revoked_at !== null) - Number(b.revoked_at !== null) || b.created_at.localeCompare(a.created_at),
  )

/** In test mode every message to it arrives. */
const TEST_RECIPIENT = '+15005550010'

/** A command for a terminal that starts a verification with the key. */
export const sendCommand = (origin: string, { key, mode }: { key: string; mode: KeyMode }): string =>
  [
    `curl ${origin}/api/v1/otp/send \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"recipient": "${mode === 'test' ? TEST_RECIPIENT : SAMPLE_NUMBER}"}'`,
  ].join('\n')

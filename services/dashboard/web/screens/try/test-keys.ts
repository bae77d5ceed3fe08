// The test keys with which the screen calls the client API. In: an app and a kind of key. Out: the key of this browser:
// that of another tab, or one made on first use, which replaces the browser's earlier one. A key is kept in the session
// storage of its tabs alone, which signing out clears; only the server's hash of it lasts longer. The browser remembers
// the ids of its keys, so that it revokes no key of another.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { readInTab, storeInTab } from '../../data/browser-storage.ts'
import type { KeyKind } from './api-request.ts'
import { findReplacedKeys, TRY_IT_KEY_NAME } from './replaced-keys.ts'
import { askTabs, inTurn, tellTabs } from './shared-keys.ts'

const LIST_LIMIT = 100

const storageName = (appId: string, kind: KeyKind): string => `try it: ${kind} key of ${appId}`

/** An item for each key, so that two tabs do not overwrite each other's. */
const madeName = (id: string): string => `try it: made ${id}`

/** Two calls at once, such as of a double click, get one key. */
const underWay = new Map<string, Promise<string>>()

/** `refused`: the key that the API has just refused, which is not used again. */
export async function testKey(appId: string, kind: KeyKind, refused: string | null = null): Promise<string> {
  const name = storageName(appId, kind)
  const stored = readInTab(name)
  if (stored !== null && stored !== refused) return stored
  storeInTab(name, null)
  const search = underWay.get(name) ?? findKey(appId, kind, refused).finally(() => underWay.delete(name))
  underWay.set(name, search)
  return search
}

const findKey = (appId: string, kind: KeyKind, refused: string | null): Promise<string> => {
  const name = storageName(appId, kind)
  return inTurn(name, async () => (await askTabs(name, refused)) ?? createKey(appId, kind))
}

async function createKey(appId: string, kind: KeyKind): Promise<string> {
  const body = { kind, mode: 'test', name: TRY_IT_KEY_NAME } as const
  const made = await bodyOf(api.POST('/admin/v1/apps/{id}/keys', { params: { path: { id: appId } }, body }))
  const name = storageName(appId, kind)
  storeInTab(name, made.key)
  tellTabs(name, made.key)
  // Nothing waits for it, and what fails is tried again with the next key.
  void replaceEarlierKeys(made).catch(() => {})
  return made.key
}

async function replaceEarlierKeys(made: Schemas['NewApiKey']): Promise<void> {
  localStorage.setItem(madeName(made.id), 'yes')
  const params = { path: { id: made.app_id }, query: { limit: LIST_LIMIT } }
  const { items } = await bodyOf(api.GET('/admin/v1/apps/{id}/keys', { params }))
  const isOwn = (id: string): boolean => localStorage.getItem(madeName(id)) !== null
  for (const { id } of findReplacedKeys(items, made, isOwn)) {
    await api.DELETE('/admin/v1/keys/{id}', { params: { path: { id } } })
    localStorage.removeItem(madeName(id))
  }
}

// The test keys with which the screen calls the client API. In: an app and a kind of key. Out: a key, made on first use. A key is kept in
// the session storage of this tab alone, which signing out clears; only the server's hash of it lasts longer. The browser remembers the ids of
// its keys, so that it revokes no key of another.
import { api, bodyOf } from '../../api/client.ts'
import { readInTab, storeInTab } from '../../data/browser-storage.ts'
import { findAbandonedKeys, TRY_IT_KEY_NAME } from './abandoned-keys.ts'
import type { KeyKind } from './api-request.ts'

const LIST_LIMIT = 100

const storageName = (appId: string, kind: KeyKind): string => `try it: ${kind} key of ${appId}`

/** An item for each key, so that two tabs do not overwrite each other's. */
const madeName = (id: string): string => `try it: made ${id}`

/** Two calls at once, such as of a double click, get one key. */
const underWay = new Map<string, Promise<string>>()

export async function testKey(appId: string, kind: KeyKind): Promise<string> {
  const name = storageName(appId, kind)
  const stored = readInTab(name)
  if (stored !== null) return stored
  const creation = underWay.get(name) ?? createKey(appId, kind).finally(() => underWay.delete(name))
  underWay.set(name, creation)
  return creation
}

/** After the key was refused. */
export const forgetTestKey = (appId: string, kind: KeyKind): void => storeInTab(storageName(appId, kind), null)

async function createKey(appId: string, kind: KeyKind): Promise<string> {
  const body = { kind, mode: 'test', name: TRY_IT_KEY_NAME } as const
  const { id, key } = await bodyOf(api.POST('/admin/v1/apps/{id}/keys', { params: { path: { id: appId } }, body }))
  storeInTab(storageName(appId, kind), key)
  // Nothing waits for it, and what fails is tried again with the next key.
  void rememberKey(appId, id).catch(() => {})
  return key
}

/** Remembers the key, and revokes those of earlier visits. */
async function rememberKey(appId: string, made: string): Promise<void> {
  localStorage.setItem(madeName(made), 'yes')
  const params = { path: { id: appId }, query: { limit: LIST_LIMIT } }
  const { items } = await bodyOf(api.GET('/admin/v1/apps/{id}/keys', { params }))
  const isOwn = (id: string): boolean => localStorage.getItem(madeName(id)) !== null
  for (const { id } of findAbandonedKeys(items, isOwn, Date.now())) {
    await api.DELETE('/admin/v1/keys/{id}', { params: { path: { id } } })
    localStorage.removeItem(madeName(id))
  }
}

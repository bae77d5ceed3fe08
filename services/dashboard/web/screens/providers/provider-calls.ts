// The calls of the screen. In: an app, a provider and what is to be done. Out: what the API answers; a refusal is thrown.
import { isProviderType, type ProviderType } from '../../../../domain/tenancy/provider-types/list.ts'
import { api, bodyOf, type CallOptions, type Schemas } from '../../api/client.ts'
import { allPages } from '../../data/all-pages.ts'
import type { Placed } from './provider-order.ts'

/** One whose type this release does not know is shown and deleted, and nothing else: `isKnown` tells. */
export type Provider = Schemas['Provider'] & { type: ProviderType }

export const isKnown = ({ type }: Provider): boolean => isProviderType(type)

const pathOf = (id: string, name: string) => ({ params: { path: { id, name } } })

export async function listProviders(appId: string, call?: CallOptions): Promise<Provider[]> {
  const all: Provider[] = []
  const pages = allPages(({ cursor }) => {
    const params = { path: { id: appId }, query: cursor === undefined ? {} : { cursor } }
    return bodyOf(api.GET('/admin/v1/apps/{id}/providers', { params, ...call }))
  })
  for await (const page of pages) all.push(...(page as Provider[]))
  return all
}

export const getProvider = (appId: string, name: string): Promise<Provider> =>
  bodyOf(api.GET('/admin/v1/apps/{id}/providers/{name}', pathOf(appId, name))) as Promise<Provider>

export const putProvider = (appId: string, name: string, body: Schemas['PutProviderRequest']): Promise<Provider> =>
  bodyOf(api.PUT('/admin/v1/apps/{id}/providers/{name}', { ...pathOf(appId, name), body })) as Promise<Provider>

/** `confirmed`: that no other one sends for its channel. */
export const deleteProvider = (appId: string, name: string, confirmed: boolean): Promise<unknown> =>
  api.DELETE('/admin/v1/apps/{id}/providers/{name}', {
    params: { path: { id: appId, name }, query: confirmed ? { confirm: 'true' } : {} },
  })

export const testProvider = (appId: string, name: string, recipient: string): Promise<Schemas['ProviderTest']> =>
  bodyOf(api.POST('/admin/v1/apps/{id}/providers/{name}/test', { ...pathOf(appId, name), body: { recipient } }))

/** Without the config, as below. */
export const changeProvider = (
  appId: string,
  { name, type, channel }: Provider,
  changed: Pick<Schemas['PutProviderRequest'], 'paused' | 'countries' | 'confirm'>,
): Promise<Provider> => putProvider(appId, name, { type, channel, ...changed })

/** Without the configs, which the server keeps as they are: a colleague may have changed them since the list was loaded. One after the
 *  other, so that the audit log has the changes in the order of the list. */
export async function savePositions(
  appId: string,
  providers: readonly Provider[],
  positions: readonly Placed[],
): Promise<void> {
  for (const { name, position } of positions) {
    const provider = providers.find(one => one.name === name)
    if (!provider) continue
    const { type, channel } = provider
    await putProvider(appId, name, { type, channel, position })
  }
}

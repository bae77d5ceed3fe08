// Whether vendors can report receipts: they call PUBLIC_URL. The admin API does not show that setting, but the `doc_url` of every error is
// under it.
import { type Api, allItems, bodyOf, callServer, type Schemas } from '../api.ts'
import { type Refused, Unreachable } from '../failures.ts'
import type { Connection } from '../profile.ts'
import { createFinding, type Finding } from './finding.ts'

/** They report nothing by calling back. */
const WITHOUT_CALLBACKS: readonly string[] = ['sandbox', 'smtp']

export async function checkCallbacks(
  api: Api,
  { url, token }: Connection,
  apps: readonly Schemas['App'][],
  givenUrl: string | undefined,
): Promise<Finding[]> {
  const finding = createFinding('callbacks')
  const provider = await findReportingProvider(api, apps)
  if (provider === null)
    return [finding('ok', 'No provider that can be read reports receipts, so none has to reach this deployment.')]
  const publicUrl = givenUrl ?? (await findPublicUrl(url, token))
  if (publicUrl === null)
    return [finding('broken', 'PUBLIC_URL is not set, so vendors cannot report receipts and messages of users.')]
  const address = `${publicUrl}/callbacks/${provider.app}/${provider.name}`
  try {
    // Unsigned, so it is refused and changes nothing. Only Countersign refuses it with a problem of its own.
    const response = await callServer(address, { method: 'POST', signal: AbortSignal.timeout(10_000) })
    const isOurs = response.headers.get('content-type')?.startsWith('application/problem+json') === true
    if (!isOurs || response.status === 404)
      return [
        finding(
          'broken',
          `${address} answers ${response.status}, which is not Countersign: vendors reach something else.`,
        ),
      ]
    return [finding('ok', `${publicUrl} takes the callbacks of vendors, seen from here.`)]
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    return [finding('broken', `Vendors cannot report: ${error.message}.`)]
  }
}

/** One that cannot be read is left out: the server understands none of its reports, and the check of its app names it. */
async function findReportingProvider(api: Api, apps: readonly Schemas['App'][]) {
  for (const { id } of apps) {
    const providers = await allItems(query =>
      bodyOf(api.GET('/admin/v1/apps/{id}/providers', { params: { path: { id }, query } })),
    )
    const found = providers.find(({ type, config }) => config !== null && !WITHOUT_CALLBACKS.includes(type))
    if (found !== undefined) return { app: id, name: found.name }
  }
  return null
}

/** Null when it is not set: then `doc_url` is a path. */
async function findPublicUrl(url: string, token: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await callServer(`${url}/admin/v1/apps/app_none`, { headers })
  const { doc_url = '/' } = (await response.json().catch(() => ({}))) as Refused['problem']
  return URL.canParse(doc_url) ? doc_url.replace(/\/docs\b.*$/, '') : null
}

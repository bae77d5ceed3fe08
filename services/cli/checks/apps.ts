// What concerns one app: why its messages and events would not leave, its providers, its endpoints, and settings that are risky.
import { type Api, allItems, bodyOf, type Schemas } from '../api.ts'
import { createFinding, type Finding } from './finding.ts'

type App = Schemas['App']

const CAUSES: Record<Schemas['HealthCauseType'], (cause: Schemas['HealthCause']) => string> = {
  verifications_stopped: () => 'no process takes calls: they are answered with 503',
  channel_stopped: ({ channel }) => `messages wait, and no process of the channel ${channel} runs`,
  webhooks_stopped: () => 'events wait, and no process delivers them',
  provider_open: ({ provider, since }) => `the provider ${provider} failed too often and is not called since ${since}`,
  provider_half_open: ({ provider }) => `the provider ${provider} failed too often and is being tried again`,
  provider_silent: ({ provider, countries, since }) =>
    `since ${since} hardly anyone enters the codes that the provider ${provider} sends${countries?.length ? ` in ${countries.join(', ')}` : ''}`,
  endpoint_paused: ({ endpoint, reason }) =>
    `the webhook endpoint ${endpoint?.name ?? endpoint?.url} is paused (${reason ?? 'by hand'}), and its events are held`,
}

export async function checkApp(api: Api, app: App): Promise<Finding[]> {
  const finding = createFinding('app')
  const path = { id: app.id }
  const [{ causes }, providers, { items: keys }, { items: endpoints }] = await Promise.all([
    bodyOf(api.GET('/admin/v1/apps/{id}/health', { params: { path } })),
    allItems(query => bodyOf(api.GET('/admin/v1/apps/{id}/providers', { params: { path, query } }))),
    bodyOf(api.GET('/admin/v1/apps/{id}/keys', { params: { path, query: { limit: 100 } } })),
    bodyOf(api.GET('/admin/v1/apps/{id}/endpoints', { params: { path } })),
  ])
  const isLive = keys.some(({ mode, revoked_at }) => mode === 'live' && revoked_at === null)
  const usable = providers.filter(({ paused, config }) => !paused && config !== null)
  const findings = [
    ...causes.map(cause => finding('broken', CAUSES[cause.cause](cause))),
    ...providers
      .filter(({ config }) => config === null)
      .map(({ name, type }) =>
        finding(
          'broken',
          `the server cannot read the provider ${name} (${type}): its data key is not configured any more, or the server's release does not know this type`,
        ),
      ),
    ...(isLive ? unservedChannels(app, usable).map(text => finding('risky', text)) : []),
    ...(isLive && usable.length === 0
      ? [
          finding(
            'broken',
            'it has a live key, and no provider that can be read and is not paused: no live send leaves',
          ),
        ]
      : []),
    ...endpoints
      .filter(({ status, failures }) => status === 'active' && failures > 0)
      .map(({ url, failures }) =>
        finding('risky', `the webhook endpoint ${url} has failed ${failures} times since its last success`),
      ),
    ...riskySettings(app).map(text => finding('risky', text)),
  ].map(one => ({ ...one, text: `${app.name} (${app.id}): ${one.text}.` }))
  return findings.length > 0 ? findings : [finding('ok', `${app.name} (${app.id}): nothing found.`)]
}

/** Channels of the default order that a live send passes over. */
function unservedChannels({ settings }: App, usable: readonly Schemas['Provider'][]): string[] {
  const { channels, routing } = settings
  return routing.default
    .filter(channel => channels[channel].enabled && !usable.some(one => one.channel === channel))
    .map(channel => `${channel} is in the default order and enabled, and has no provider that sends`)
}

function riskySettings({ settings, warnings }: App): string[] {
  const {
    publishable_send,
    publishable_challenge,
    allowed_origins,
    allowed_countries,
    blocked_countries,
    fraud_guard,
  } = settings
  return [
    ...warnings.map(({ path, message }) => `${path} ${message}`),
    ...(publishable_send && publishable_challenge === 'off'
      ? ['publishable_send is on without challenges: anyone can make it send messages that cost money']
      : []),
    ...(publishable_send && fraud_guard.mode === 'off' ? ['publishable_send is on, and the fraud guard is off'] : []),
    ...(publishable_send && allowed_origins.length === 0
      ? ['publishable_send is on, and pages of every origin may use its keys (allowed_origins is empty)']
      : []),
    ...(publishable_send && allowed_countries === null && blocked_countries.length === 0
      ? ['publishable_send is on for numbers of all countries, the expensive ones too (allowed_countries is null)']
      : []),
  ]
}

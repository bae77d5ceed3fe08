// The channel that a send would use now, and the obstacles of the others. It calls the same functions as a send, but sends nothing. Limits,
// funds and the client's address are not checked.

import { z } from 'zod'
import { CHANNELS, type Channel, type Obstacle } from '../../machines/channels.ts'
import type { ErrorType } from '../../machines/errors.ts'
import {
  channelReason,
  firstUsable,
  isGeoBlocked,
  obstacle,
  orderFor,
  type ProviderScope,
  refusedNumberKind,
  SANDBOX_SCOPES,
} from '../../machines/routing.ts'
import { SAMPLE_NUMBER } from '../../machines/sample-number.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { keyKind, keyMode } from '../domain/openapi/shared-schemas.ts'
import { createOptOuts } from '../domain/recipients/opt-outs.ts'
import { factsNow } from '../domain/routes/documents.ts'
import { findKnownProviders, scopeOf } from '../domain/tenancy/documents.ts'
import { resolveSettings } from '../domain/tenancy/settings.ts'
import { acceptRecipient } from '../domain/verifications/valid-recipient.ts'
import { ok } from './answers.ts'
import { usuallyFirst } from './learned-routes/rows.ts'
import { operation } from './operation.ts'
import { type RoutePreviewAnswer, routePreview } from './routing-preview.schemas.ts'

const previewBody = z
  .strictObject({ recipient: z.string(), mode: keyMode.default('live'), kind: keyKind.default('server') })
  .meta({
    id: 'RoutePreviewRequest',
    description: 'A recipient, and the mode and kind of the key that would send.',
  })

/** Breakers are not looked at. */
const NONE: ReadonlySet<string> = new Set()

export const routingPreviewOperations = [
  operation({
    id: 'explainRoute',
    request: 'POST /apps/{id}/route',
    role: 'viewer',
    summary: 'Explain the route of a send',
    description:
      'The channel that a send would use now, and the obstacle of each other channel. It sends nothing; limits, money and the client address are not checked.',
    body: { schema: previewBody, example: { recipient: SAMPLE_NUMBER } },
    answers: [
      ok(routePreview, 'The route.', {
        channel: 'sms',
        refusal: null,
        why: 'It is the first usable channel in the default order.',
        recipient_type: 'phone',
        country: 'GB',
        order: ['sms'],
        whatsapp_mode: 'template',
        channels: [{ channel: 'sms', place: 1, usable: true, obstacle: null, reason: null, provider: 'main-sms' }],
      }),
    ],
    handle: async ({ app, body }, { store, keyring, clock }) => {
      const settings = resolveSettings(app.settings)
      const { stoppedChannels } = createOptOuts({ rules: store.docs('recipient_rules'), keyring })
      const stopped = await stoppedChannels({ app_id: app._id, mode: body.mode }, body.recipient)
      if (body.mode === 'test') return explainRouting({ ...body, stopped }, settings, SANDBOX_SCOPES, () => 'sandbox')
      const [providers, stored] = await Promise.all([
        findKnownProviders(store, app._id),
        store.docs('route_facts').get([app._id]),
      ])
      const facts = factsNow(stored.get(app._id), clock.now())
      const known = { providers, open: NONE, facts, rule: settings.routing }
      return explainRouting({ ...body, stopped }, settings, providers.map(scopeOf), (channel, country) =>
        usuallyFirst(known, channel, country, body.kind),
      )
    },
  }),
]

function explainRouting(
  { recipient: text, mode, kind, stopped }: z.output<typeof previewBody> & { stopped: readonly Channel[] },
  settings: AppSettings,
  providers: readonly ProviderScope[],
  firstProvider: (channel: Channel, country: string | null) => string | null,
): RoutePreviewAnswer {
  const checked = acceptRecipient(text, mode)
  if (checked === null) return INVALID_RECIPIENT
  const { parsed: recipient, magic } = checked
  const magicRefusal = magic && 'refuses' in magic ? magic.refuses : null
  const { country = null, numberKind = undefined } = recipient.kind === 'phone' ? recipient : {}
  const order = orderFor(settings.routing, country)
  const whatsapp = settings.channels.whatsapp.mode
  const situation = {
    settings,
    recipient: recipient.kind,
    number_kind: numberKind,
    country,
    providers,
    whatsapp,
    caller: kind,
    code_length: settings.code.length,
    stopped,
  }
  const channels = CHANNELS.map(channel => {
    const explained = explainChannel(channel, order, obstacle(channel, situation))
    return { ...explained, provider: explained.usable ? firstProvider(channel, country) : null }
  })
  const usable = channels.filter(one => one.usable).map(one => one.channel)
  const first = firstUsable(order, usable) ?? null
  const isBlocked =
    first === null && order.some(channel => channels.some(one => one.channel === channel && one.obstacle === 'stopped'))
  const refusedKind = refusedNumberKind(settings, numberKind)
  const refusal = refusedKind
    ? 'InvalidRecipientError'
    : refusalOf(
        { isGeoBlocked: isGeoBlocked(settings, { kind: recipient.kind, country }), isBlocked },
        first,
        magicRefusal,
      )
  const orderName = order === settings.routing.default ? 'the default order' : `the order of ${country}`
  return {
    channel: refusal === null ? first : null,
    refusal,
    why: refusedKind
      ? `The app sends to no numbers of the kind ${refusedKind}.`
      : refusal === null
        ? `It is the first usable channel in ${orderName}.`
        : (REFUSAL_REASONS[refusal] ?? MAGIC_REASON),
    recipient_type: recipient.kind,
    country,
    order,
    whatsapp_mode: whatsapp,
    channels,
  }
}

function explainChannel(channel: Channel, order: readonly Channel[], blockedBy: Obstacle | null) {
  const place = order.includes(channel) ? order.indexOf(channel) + 1 : null
  const reason = blockedBy !== null ? OBSTACLE_REASONS[blockedBy] : place === null ? 'It is not in the order.' : null
  return { channel, place, usable: blockedBy === null, obstacle: channelReason(channel, order, blockedBy), reason }
}

/** In the order in which `planSend` checks: a test compares the two. */
function refusalOf(
  { isGeoBlocked, isBlocked }: { isGeoBlocked: boolean; isBlocked: boolean },
  first: Channel | null,
  magicRefusal: ErrorType | null,
): ErrorType | null {
  if (isGeoBlocked || magicRefusal === 'GeoBlockedError') return 'GeoBlockedError'
  if (isBlocked) return 'RecipientBlockedError'
  return first === null ? 'NoEnabledChannelError' : magicRefusal
}

const REFUSAL_REASONS: Partial<Record<ErrorType, string>> = {
  GeoBlockedError: "The recipient's country is blocked, or plays one that is.",
  RecipientBlockedError:
    'The recipient asked for no more messages (STOP) on every channel that could be used. A device is not told: its send is accepted, and nothing is sent.',
  NoEnabledChannelError: 'No channel of the order is enabled, can reach the recipient and has a provider for it.',
}

const MAGIC_REASON = 'This is what the magic recipient is for.'

const INVALID_RECIPIENT: RoutePreviewAnswer = {
  channel: null,
  refusal: 'InvalidRecipientError',
  why: 'It is no valid E.164 phone number or email address, or plays one that is not.',
  recipient_type: null,
  country: null,
  order: [],
  whatsapp_mode: null,
  channels: [],
}

const OBSTACLE_REASONS: Record<Obstacle, string> = {
  disabled: "It is switched off in the app's settings.",
  cannot_reach_recipient: 'Email reaches addresses, the other channels phone numbers.',
  number_kind: 'The app does not use it for numbers of this kind.',
  no_provider: 'The app has no provider for it.',
  no_provider_for_country: 'None of its providers serves the country.',
  provider_paused: 'Its provider is paused.',
  code_too_long: 'It takes codes of at most 8 digits, and those of the app have more.',
  stopped_by_recipient: 'The recipient asked for no more messages on it (STOP).',
  no_business_number: 'Its link modes need a business number.',
  not_provable_by_device: 'A publishable key could never prove what a message approved.',
}

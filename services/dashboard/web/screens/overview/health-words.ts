// Why messages or events do not leave, in words. In: causes of GET /apps/{id}/health, and for operators the queues with dead letters. Out:
// sentences, each with the screen where more is to be seen or done.
import type { ScreenPath } from '../../../screens.ts'
import type { Schemas } from '../../api/schema.ts'
import { channelName } from '../../data/channels.ts'
import { countryName, sortedByName } from '../../data/countries.ts'
import { countOf } from '../../ui/figure-format.ts'
import { endpointTitle, PAUSE_REASONS } from '../api-keys/webhook-text.ts'

export interface Trouble {
  text: string
  /** Null where it is not known. */
  since: string | null
  screen: ScreenPath
  /** What follows the path of the screen. */
  query: string
}

type HealthCause = Schemas['HealthCause']

export function troubleOf(cause: HealthCause, isOperator: boolean): Trouble {
  const { since } = cause
  // Queues are for operators; other users see what waits.
  const inQueue = (queue: string, text: string, elsewhere: ScreenPath): Trouble =>
    isOperator
      ? { text, since, screen: '/queues', query: `?queue=${queue}` }
      : { text, since, screen: elsewhere, query: '' }
  const provider = `The provider ${cause.provider} (${channelName(cause.channel ?? '')}) failed too often`
  switch (cause.cause) {
    case 'verifications_stopped':
      return inQueue('otp.calls', 'No process takes sends and codes, so they are answered with 503.', '/verifications')
    case 'channel_stopped':
      return inQueue(
        `channel.${cause.channel}`,
        `Messages by ${channelName(cause.channel ?? '')} wait: no process of this channel runs.`,
        '/verifications',
      )
    case 'webhooks_stopped':
      return inQueue('webhook.deliver', 'Events wait: no process that calls your webhook runs.', '/api-keys')
    case 'provider_open':
      return { text: `${provider} and is not called.`, since, screen: '/providers', query: '' }
    case 'provider_half_open':
      return { text: `${provider} and is being tried again.`, since, screen: '/providers', query: '' }
    case 'provider_silent': {
      const name = `The provider ${cause.provider} (${channelName(cause.channel ?? '')})`
      const where = cause.countries?.length ? ` to ${placesInWords(cause.countries)}` : ''
      const text = `${name} accepts messages${where}, but hardly anyone types the code. Look at your own page first. Routing says what other providers get there.`
      return { text, since, screen: '/routing', query: '' }
    }
    case 'endpoint_paused': {
      const { endpoint } = cause
      const name = endpoint ? ` ${endpointTitle(endpoint)}` : ''
      const reason = cause.reason === null ? '' : ` ${PAUSE_REASONS[cause.reason]}`
      return {
        text: `The webhook endpoint${name} is paused, and its events are held.${reason}`,
        since,
        screen: '/webhooks',
        query: endpoint ? `?endpoint=${endpoint.id}` : '',
      }
    }
  }
}

/** More are counted. */
const NAMED_COUNTRIES = 3

function placesInWords(codes: readonly string[]): string {
  const names = sortedByName(codes).map(countryName)
  const rest = names.length - NAMED_COUNTRIES
  if (rest > 1) return `${names.slice(0, NAMED_COUNTRIES).join(', ')} and ${rest} other countries`
  return names.length === 1 ? String(names[0]) : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

export const deadLetterTroubles = (queues: readonly Pick<Schemas['Queue'], 'queue' | 'dead'>[]): Trouble[] =>
  queues.flatMap(({ queue, dead }) =>
    dead === null || dead === 0
      ? []
      : [
          {
            text: `${countOf(dead, 'dead letter')} in ${queue}: what could not be handled waits until it is requeued or dropped.`,
            since: null,
            screen: '/queues',
            query: `?queue=${queue}`,
          },
        ],
  )

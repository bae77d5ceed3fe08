// Ids of endpoints. In: a stored endpoint, or an id from a request. Out: the id that operators know, `whk_…`, or the ids it may be stored
// under. The first endpoint of `app_x` is stored as `app_x` and known as `whk_x`.
import type { EventDoc, WebhookEndpoint } from './documents.ts'

const PREFIX = 'whk_'
const APP_PREFIX = 'app_'

/** Which endpoint of which app, as events name it: the first one by its app alone. */
export type EndpointRef = Pick<EventDoc, 'app_id' | 'endpoint_id'>

export const appIdOf = ({ _id, app_id = _id }: Pick<WebhookEndpoint, '_id' | 'app_id'>): string => app_id

export const refOf = ({ _id, app_id }: Pick<WebhookEndpoint, '_id' | 'app_id'>): EndpointRef =>
  app_id === undefined || app_id === _id ? { app_id: _id } : { app_id, endpoint_id: _id }

/** In: an event or a reference. Out: the `_id` of its endpoint. */
export const storedEndpointId = ({ app_id, endpoint_id = app_id }: EndpointRef): string => endpoint_id

/** Whether the event is for an endpoint. One of the first endpoint does not name it, as little as one that was stored because no endpoint
 *  asked for it. */
export const hasEndpoint = ({
  endpoint_id,
  status,
  attempts,
}: Pick<EventDoc, 'endpoint_id' | 'status' | 'attempts'>): boolean =>
  endpoint_id !== undefined || status !== 'unsent' || attempts.length > 0

/** As operators know it, from the `_id`. */
export const endpointId = (_id: string): string =>
  _id.startsWith(APP_PREFIX) ? `${PREFIX}${_id.slice(APP_PREFIX.length)}` : _id

/** The `_id`s under which an endpoint with this id may be stored. */
export const storedEndpointIds = (id: string): string[] =>
  id.startsWith(PREFIX) ? [id, `${APP_PREFIX}${id.slice(PREFIX.length)}`] : []

/** For a query. Events of the first endpoint do not name it, and null matches what is missing. */
export const eventFilterOf = ({ app_id, endpoint_id }: EndpointRef) => ({ app_id, endpoint_id: endpoint_id ?? null })

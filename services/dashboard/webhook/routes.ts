// The routes of an app's webhook:
//   endpoint.ts   GET|PUT /apps/{id}/webhook, POST /apps/{id}/webhook/enable|test
//   rotation.ts   POST /apps/{id}/webhook/rotate|promote
//   events.ts     GET /apps/{id}/events, GET /events/{id}, POST /events/{id}/replay, POST /apps/{id}/events/replay
import { stepEndpoint } from '../../../machines/endpoint.step.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { createWebhookControl } from './control.ts'
import { addEndpointRoutes } from './endpoint.ts'
import { addEventRoutes } from './events.ts'
import { addRotationRoutes } from './rotation.ts'

export const addWebhookRoutes: AddRoutes = (router, admin) => {
  const { store, broker, clock, log } = admin
  const control = createWebhookControl({ store, broker, clock, log, step: stepEndpoint })
  addEndpointRoutes(router, admin, control)
  addRotationRoutes(router, admin)
  addEventRoutes(router, admin, control)
}

// The edge: the public API over HTTP, its OpenAPI document and the reference page made from it.
import { Router } from '@koa/router'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { tenancy } from '../domain/tenancy/tenancy.ts'
import { referenceRouter } from './docs/router.ts'
import { apiRouter } from './router.ts'

export interface EdgeParts {
  config: Pick<Config, 'http'>
  broker: Pick<Broker, 'request'>
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
}

export function edge({ config: { http }, broker, store, keyring, clock, log }: EdgeParts): Service {
  const router = new Router()
  const api = apiRouter({
    ...{ broker, keyring, clock, log, http },
    tenancy: tenancy({ store, keyring }),
    otps: store.docs('otps'),
  })
  router.use(api.routes())
  router.use(referenceRouter(http).routes())
  return { router }
}

// The API's routes. Each request passes the same gates in the same order: route → key → body; the rest is the OTP actor's to
// decide. The edge holds no verification: it asks, waits for as long as it can, and passes the answer on.
import { randomUUID } from 'node:crypto'
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { z } from 'zod'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { tellingUnopened } from '../../infra/crypto/unopened.ts'
import { readJson } from '../../infra/http/body.ts'
import { httpException } from '../../infra/http/problem.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Identity, OtpAnswer, OtpCall } from '../../machines/calls.ts'
import type { KeyKind } from '../../machines/otp.ts'
import { problem } from '../domain/errors.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { answering } from './answers.ts'
import { calls } from './calls.ts'
import { capacity } from './capacity.ts'
import { clientAddress } from './client-address.ts'
import { crossOrigin, preflight, withholdFromPages } from './cors.ts'
import { deviceRules } from './devices.ts'
import { identifying } from './keys.ts'
import { cancelRequest, exchangeRequest, resendRequest, sendRequest, verifyRequest } from './schemas.ts'
import { statusOf } from './status.ts'
import { parseBody } from './validation.ts'

export interface RouterParts {
  broker: Pick<Broker, 'request'>
  tenancy: Pick<Tenancy, 'keyByHash' | 'app'>
  otps: Pick<Docs<OtpDoc>, 'get'>
  keyring: Pick<Keyring, 'seal' | 'unseal'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'error'>
  http: Pick<Config['http'], 'maxBodyBytes' | 'maxInFlight' | 'trustedProxies'>
}

export const API = '/api/v1'

/** How long a caller is kept waiting. Past it the actor drops the call unseen. */
const BUDGET_MS = 5_000

const ANY_KEY: readonly KeyKind[] = ['server', 'publishable']
const SERVER_KEY: readonly KeyKind[] = ['server']

export function apiRouter(parts: RouterParts): Router {
  const { broker, clock, http, keyring, tenancy } = parts
  const identify = identifying({ tenancy, clock, maxLookups: http.maxInFlight })
  const devices = deviceRules({ tenancy, clock })
  const call = calls({ keyring, clock, addressOf: clientAddress(http.trustedProxies) })
  const unopened = tellingUnopened(parts)
  const respond = answering({ keyring, unopened })
  const status = statusOf({ ...parts, unopened })
  const room = capacity(http.maxInFlight)

  const admit = async (ctx: Context, kinds: readonly KeyKind[]): Promise<Identity> => {
    ctx.set('Cache-Control', 'no-store')
    const by = await identify(ctx.get('authorization'), kinds)
    if (by.kind === 'server') withholdFromPages(ctx)
    else if (!(await devices.takesOrigin(by, ctx.get('origin')))) {
      withholdFromPages(ctx)
      throw problem('OriginNotAllowedError', { detail: 'The app does not list this origin.' })
    }
    return by
  }

  const ask = (body: OtpCall): Promise<OtpAnswer> =>
    room(async () => (await broker.request('otp.calls', { id: randomUUID(), body }, BUDGET_MS)) as OtpAnswer)

  const command =
    <Schema extends z.ZodType>(
      kinds: readonly KeyKind[],
      schema: Schema,
      toCall: (body: z.output<Schema>, by: Identity, ctx: Context) => OtpCall,
      check: (by: Identity) => Promise<void> = async () => {},
    ): Middleware =>
    async ctx => {
      const by = await admit(ctx, kinds)
      await check(by)
      const body = parseBody(schema, await readJson(ctx, http.maxBodyBytes))
      ctx.body = respond(await ask(toCall(body, by, ctx)))
    }

  const checkSend = async (by: Identity): Promise<void> => {
    if (by.kind === 'publishable') await devices.checkSend(by)
  }

  const router = new Router({ prefix: API, sensitive: true })
  const post = (path: string, handle: Middleware): void => {
    router.post(path, handle).all(path, only('POST'))
  }
  const postFromPages = (path: string, handle: Middleware): void => {
    router.options(path, preflight('POST')).post(path, crossOrigin, handle).all(path, only('OPTIONS, POST'))
  }
  postFromPages('/otp/send', command(ANY_KEY, sendRequest, call.send, checkSend))
  postFromPages('/otp/resend', command(ANY_KEY, resendRequest, call.resend))
  postFromPages('/otp/verify', command(ANY_KEY, verifyRequest, call.verify))
  post('/otp/cancel', command(SERVER_KEY, cancelRequest, call.cancel))
  post('/verifications/exchange', command(SERVER_KEY, exchangeRequest, call.exchange))
  router.options('/otp/:otp_id', preflight('GET')).get('/otp/:otp_id', crossOrigin, async ctx => {
    const by = await admit(ctx, ANY_KEY)
    ctx.body = await room(() => status(ctx.params.otp_id ?? '', by))
  })
  return router
}

/** Said before `/otp/:otp_id` can take `send` for an id. */
const only =
  (allowed: string): Middleware =>
  () => {
    throw httpException(405, `This address takes ${allowed}.`, { Allow: allowed })
  }

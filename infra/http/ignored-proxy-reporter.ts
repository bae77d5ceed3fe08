// Reports proxies that are missing in TRUSTED_PROXIES: limits by address then count all callers behind such a proxy as one. In: requests
// whose X-Forwarded-For is ignored. Out: a warning, once an hour for each address, and few of them.
//
// A private address is most likely the operator's own proxy, and is shown in full. Behind a public address there may as well be a client
// that sent the header itself: few of them are reported, and only the network, because the address may be a person's. The two are
// counted apart, so that strangers cannot hide a proxy.
import type { Middleware } from 'koa'
import type { Clock } from '../clock.ts'
import { networkOf, publicIpAddress } from '../ip-address.ts'
import type { Logger } from '../log/log.ts'
import { HOUR_MS } from '../time.ts'
import type { FindCaller } from './caller-address.ts'

const MAX_PRIVATE_REPORTS = 20
const MAX_PUBLIC_REPORTS = 3
const SHOWN_NETWORK = { ipv4: 24, ipv6: 48 }

export interface IgnoredProxyDeps {
  findCaller: FindCaller
  log: Pick<Logger, 'warn'>
  clock: Pick<Clock, 'now'>
}

export function createIgnoredProxyReporter({ findCaller, log, clock }: IgnoredProxyDeps): Middleware {
  const privateReports = new Set<string>()
  const publicReports = new Set<string>()
  let resetAt = Number.NEGATIVE_INFINITY

  function report(address: string, request_id: string): void {
    if (clock.now() >= resetAt) {
      privateReports.clear()
      publicReports.clear()
      resetAt = clock.now() + HOUR_MS
    }
    const isPublic = publicIpAddress(address) !== null
    const [reports, max] = isPublic ? [publicReports, MAX_PUBLIC_REPORTS] : [privateReports, MAX_PRIVATE_REPORTS]
    if (reports.size >= max) return
    const proxy = isPublic ? networkOf(address, SHOWN_NETWORK) : address
    if (reports.has(proxy)) return
    reports.add(proxy)
    log.warn({ request_id, proxy, why: WHY }, 'proxy.not_trusted')
  }

  return (ctx, next) => {
    const ignored = ctx.get('x-forwarded-for') === '' ? null : findCaller(ctx).ignoredProxy
    if (ignored !== null) report(ignored, ctx.state.requestId)
    return next()
  }
}

const WHY = 'X-Forwarded-For from here is ignored. If this is your proxy, name it in TRUSTED_PROXIES'

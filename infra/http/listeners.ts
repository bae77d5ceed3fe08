// Which addresses a process answers at. In: the routers of its services. Out: the public address with all of them, health and metrics;
// and METRICS_PORT, if it is set, with metrics alone. Without operators and METRICS_TOKEN the public address has no metrics: no
// token could open them.
import type { Router } from '@koa/router'
import type { Config, Secrets } from '../config/config.ts'
import type { Metrics } from '../metrics.ts'
import type { FindCaller } from './caller-address.ts'
import { type EarlyRefusalsDeps, withEarlyRefusals } from './early-refusals.ts'
import { createHealthRouter, type Readiness } from './health.ts'
import { createIgnoredProxyReporter } from './ignored-proxy-reporter.ts'
import type { Address, App } from './listen.ts'
import { createMetricsRouter } from './metrics.ts'
import type { IdentifyOperator } from './operators.ts'
import { createRefusalPacing } from './refusal-pacing.ts'
import { createHttpShell, type ShellDeps } from './shell.ts'

export interface ListenersDeps extends Omit<ShellDeps, 'metrics'> {
  config: Pick<Config, 'http' | 'metricsPort' | 'metricsToken'>
  secrets: Pick<Secrets, 'adminTokens'>
  identifyOperator: IdentifyOperator
  findCaller: FindCaller
  metrics: Pick<Metrics, 'httpRequestDuration' | 'httpRequests' | 'render'>
  routers: readonly Router[]
  /** Those served on METRICS_PORT alone. */
  monitoringRouters?: readonly Router[]
  /** What the services refuse before their routers are asked. */
  earlyRefusals?: readonly Pick<EarlyRefusalsDeps, 'refuse' | 'log'>[]
  clock: ShellDeps['clock'] & EarlyRefusalsDeps['clock']
}

export type ListenerSpec = Address & { app: App }

/** The public address first. */
export function createListeners(deps: ListenersDeps, readiness: Readiness): ListenerSpec[] {
  const { config, secrets, identifyOperator, metrics, routers, monitoringRouters = [], earlyRefusals = [] } = deps
  const { host, port, publicUrl } = config.http
  const health = createHealthRouter(readiness)
  const isOpenToSome = secrets.adminTokens.length > 0 || config.metricsToken !== null
  const guardedMetrics = isOpenToSome ? [createMetricsRouter(metrics, identifyOperator, config.metricsToken)] : []
  const publicRouters = [health, ...guardedMetrics, ...routers]
  const pacing = createRefusalPacing(deps)
  const shell: App = createHttpShell({ ...deps, publicUrl, pacing }, publicRouters, [createIgnoredProxyReporter(deps)])
  const app = earlyRefusals.reduce(
    (inner, early) => withEarlyRefusals(inner, { ...deps, ...early, publicUrl, pacing }),
    shell,
  )
  const listeners: ListenerSpec[] = [{ app, host, port }]
  if (config.metricsPort !== null)
    listeners.push({
      app: createHttpShell(deps, [createMetricsRouter(metrics), ...monitoringRouters]),
      host,
      port: config.metricsPort,
      portSetting: 'METRICS_PORT',
    })
  return listeners
}

/** `http://host:port`, an IPv6 host in brackets. */
export const originOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

import { Router } from '@koa/router'
import { expect } from 'chai'
import { readConfig } from '../../../infra/config/config.ts'
import type { AdminToken } from '../../../infra/config/secrets.ts'
import { createFindCaller } from '../../../infra/http/caller-address.ts'
import { createListeners, originOf } from '../../../infra/http/listeners.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { serveApp } from '../../support/serve-app.ts'

describe('the addresses of a process', () => {
  const listenersWith = (env: Record<string, string>, adminTokens: AdminToken[] = []) =>
    createListeners(
      {
        config: readConfig(env, []),
        secrets: { adminTokens },
        identifyOperator: () => 'ann',
        findCaller: createFindCaller([]),
        metrics: createMetrics(),
        log: createCapturedLog().log,
        clock: testClock(),
        routers: [new Router()],
      },
      async () => [],
    )

  it('are the public one, and METRICS_PORT second on the same host where it is set', () => {
    const origins = (env: Record<string, string>) => listenersWith(env).map(({ host, port }) => originOf(host, port))
    expect(origins({ PORT: '4000' })).to.deep.equal(['http://127.0.0.1:4000'])
    const both = ['http://[::1]:4000', 'http://[::1]:9000']
    expect(origins({ HOST: '::1', PORT: '4000', METRICS_PORT: '9000' })).to.deep.equal(both)
  })

  it('have /metrics on the public one only if there are operators or METRICS_TOKEN: without them no token could open it', async () => {
    const metricsStatus = async (adminTokens: AdminToken[], env = {}): Promise<number> => {
      const [listener] = listenersWith(env, adminTokens)
      if (!listener) throw new Error('no listener')
      const server = await serveApp(listener.app)
      const { status } = await fetch(`${server.url}/metrics`, { headers: { Authorization: 'Bearer token-of-ann' } })
      await server.close()
      return status
    }
    expect(await metricsStatus([{ name: 'ann', token: 'token-of-ann' }])).to.equal(200)
    expect(await metricsStatus([])).to.equal(404)
    expect(await metricsStatus([], { METRICS_TOKEN: 'token-for-metrics' })).to.equal(200)
  })

  it('answer with the public address in links, with headers that keep browsers from misusing an answer, and under https from plain http', async () => {
    for (const [publicUrl, hsts] of [
      ['http://countersign.example', null],
      ['https://countersign.example', 'max-age=31536000'],
    ] as const) {
      const [listener] = listenersWith({ PUBLIC_URL: publicUrl })
      if (!listener) throw new Error('no listener')
      const server = await serveApp(listener.app)
      try {
        const { doc_url } = (await (await fetch(`${server.url}/nothing`)).json()) as { doc_url: string }
        expect(doc_url).to.equal(`${publicUrl}/docs/errors#error-HTTPException`)
        for (const path of ['/healthz', '/nothing']) {
          const { headers } = await fetch(`${server.url}${path}`)
          expect(headers.get('content-type')).to.include('json')
          expect(headers.get('x-content-type-options')).to.equal('nosniff')
          expect(headers.get('cross-origin-resource-policy')).to.equal('same-origin')
          expect(headers.get('strict-transport-security')).to.equal(hsts)
        }
      } finally {
        await server.close()
      }
    }
  })
})

import { expect } from 'chai'
import { createHealthRouter, type Readiness } from '../../../infra/http/health.ts'
import { useShellServers } from '../../support/http-shell.ts'

describe('health', () => {
  const startServer = useShellServers()
  const ask = async (path: string, readiness: () => Promise<Readiness>) =>
    (await startServer(createHealthRouter(readiness))).ask(path)

  it('is ready when every part is up', async () => {
    const { status, body } = await ask('/readyz', async () => ({ store: 'up', broker: 'up' }))
    expect(status).to.equal(200)
    expect(body).to.deep.equal({ status: 'ready', parts: { store: 'up', broker: 'up' } })
  })

  for (const state of ['down', 'blocked'] as const)
    it(`is not ready when one part is ${state}, and says which`, async () => {
      const { status, body } = await ask('/readyz', async () => ({ store: 'up', broker: state }))
      expect(status).to.equal(503)
      expect(body).to.deep.equal({ status: 'not ready', parts: { store: 'up', broker: state } })
    })

  it('is alive although parts are down, and does not ask for readiness', async () => {
    const { status, body } = await ask('/healthz', () => {
      throw new Error('asked')
    })
    expect([status, body]).to.deep.equal([200, { status: 'alive' }])
  })
})

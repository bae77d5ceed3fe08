import { expect } from 'chai'
import { createHealthRouter, type Readiness } from '../../../infra/http/health.ts'
import { useShellServers } from '../../support/http-shell.ts'

const STORE = { name: 'store', ok: true, detail: 'a write was committed' }
const BROKER = { name: 'broker', ok: true, detail: 'a message came back' }

describe('health', () => {
  const startServer = useShellServers()
  const ask = async (path: string, readiness: Readiness) => (await startServer(createHealthRouter(readiness))).ask(path)

  it('is ready when every check is ok', async () => {
    const { status, body } = await ask('/readyz', async () => [STORE, BROKER])
    expect(status).to.equal(200)
    expect(body).to.deep.equal({ status: 'ready', checks: [STORE, BROKER] })
  })

  it('is not ready when one check is not ok, and gives its reason', async () => {
    const silent = { name: 'broker', ok: false, detail: 'no answer within 3 s' }
    const { status, body } = await ask('/readyz', async () => [STORE, silent])
    expect(status).to.equal(503)
    expect(body).to.deep.equal({ status: 'not ready', checks: [STORE, silent] })
  })

  it('is alive although checks fail, and does not ask for readiness', async () => {
    const { status, body } = await ask('/healthz', () => {
      throw new Error('asked')
    })
    expect([status, body]).to.deep.equal([200, { status: 'alive' }])
  })
})

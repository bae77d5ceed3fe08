// How processes start and share their work. The services are replaced by an echo, except where a test says otherwise.
import { expect } from 'chai'
import { createStarter, describeCountersign, describeCountersignOnce } from '../support/countersign.ts'
import { ECHO } from '../support/echo.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers })
  return { status: response.status, text: await response.text() }
}

describeCountersign('a deployment in one process', start => {
  it('becomes ready, and answers a request through the broker', async () => {
    const { url, log } = await start({ services: ECHO })
    const checks = [
      { name: 'process', ok: true, detail: 'running' },
      { name: 'store', ok: true, detail: 'a write was committed' },
      { name: 'broker', ok: true, detail: 'a message came back' },
      { name: 'clock', ok: true, detail: "agrees with the store's" },
      { name: 'consumers', ok: true, detail: '1 of 1 attached' },
    ]
    expect(await get(`${url}/readyz`)).to.deep.equal({ status: 200, text: JSON.stringify({ status: 'ready', checks }) })
    expect(await get(`${url}/echo/hello`)).to.deep.equal({ status: 200, text: '{"echoed":{"word":"hello"}}' })
    expect(log.lines()).to.satisfy((lines: Record<string, unknown>[]) =>
      lines.some(line => line.msg === 'http.answered' && line.route === '/echo/:word'),
    )
  })

  it('keeps its secrets across a restart', async () => {
    const first = await start({ services: ECHO })
    const second = await first.restart()
    expect(second.secrets).to.deep.equal(first.secrets)
  })
})

describeCountersignOnce('a process', start => {
  it('serves its metrics openly on METRICS_PORT, and to operators only on the public port', async () => {
    const { url, metricsUrl, secrets } = await start({ services: ECHO, env: { METRICS_PORT: '0' } })
    await get(`${url}/echo/hello`)
    await get(`${url}/companies/cmp_none`)
    const Authorization = `Bearer ${secrets.adminTokens[0]?.token}`
    expect((await get(`${url}/metrics`)).status).to.equal(401)
    for (const { status, text } of [
      await get(`${metricsUrl}/metrics`),
      await get(`${url}/metrics`, { Authorization }),
    ]) {
      expect(status).to.equal(200)
      expect(text).to.contain('countersign_http_request_duration_seconds_count{method="GET",route="/echo/:word"} 1')
      expect(text).to.contain('countersign_http_requests_total{method="GET",route="/echo/:word",status="200"} 1')
      expect(text).to.contain('countersign_calls_total{queue="otp.calls",outcome="answered"} 1')
      expect(text).to.contain('countersign_broker_messages_total{queue="otp.calls",outcome="answered"} 1')
      expect(text).to.contain('countersign_broker_state{state="up"} 1')
      expect(text).to.match(/^countersign_clock_offset_seconds -?\d/m)
      expect(text).to.match(/countersign_store_collection_seconds_count\{collection="companies"\} \d/)
    }
    expect((await get(`${metricsUrl}/echo/hello`)).status).to.equal(404)
  })
})

onRealEngines('a deployment of several processes', { AMQP_URL, MONGODB_URL }, () => {
  const start = createStarter('real')

  it('splits the work by role: an edge process takes a request, and an otp process answers it', async () => {
    const edge = await start({ services: ECHO, roles: ['edge'] })
    const { site, secrets } = edge
    const otp = await start({ services: ECHO, roles: ['otp'], site })
    expect(otp.secrets.data).to.deep.equal(secrets.data)
    expect([otp.secrets.code.length, secrets.code.length], 'only the otp process has code secrets').to.deep.equal([
      1, 0,
    ])
    const echo = async (url: string) => (await fetch(`${url}/echo/hello`)).status
    expect(await echo(edge.url)).to.equal(200)
    expect(await echo(otp.url)).to.equal(404)
    await otp.stop()
    expect((await fetch(`${edge.url}/readyz`)).status).to.equal(200)
  })
})

// What a process shows of itself. The services are replaced by an echo.
import { expect } from 'chai'
import { describeCountersignOnce } from '../support/countersign.ts'
import { ECHO } from '../support/echo.ts'

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers })
  return { status: response.status, text: await response.text() }
}

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

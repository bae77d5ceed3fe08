import { expect } from 'chai'
import { BootstrapProblems } from '../../services/domain/bootstrap/bootstrap.ts'
import { fullBootstrapFile } from '../support/bootstrap.ts'
import { type Countersign, describeCountersign } from '../support/countersign.ts'
import { ECHO } from '../support/echo.ts'
import { allTenancyDocs } from '../support/tenancy.ts'

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers })
  return { status: response.status, text: await response.text() }
}

describeCountersign('the composition', start => {
  it('is ready, and a request goes through every piece of it', async () => {
    const { url, log } = await start({ services: ECHO })
    expect(await get(`${url}/readyz`)).to.deep.equal({
      status: 200,
      text: JSON.stringify({
        status: 'ready',
        parts: { process: 'up', store: 'up', broker: 'up', consumers: 'up' },
      }),
    })
    expect(await get(`${url}/echo/hello`)).to.deep.equal({ status: 200, text: '{"echoed":{"word":"hello"}}' })
    expect(log.lines()).to.satisfy((lines: Record<string, unknown>[]) =>
      lines.some(line => line.msg === 'http.answered' && line.route === '/echo/:word'),
    )
  })

  it('starts every real service, and is ready', async () => {
    const { url } = await start()
    expect((await get(`${url}/readyz`)).status).to.equal(200)
  })

  it('shows its measurements: openly on METRICS_PORT, to operators on the public port', async () => {
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
      expect(text).to.contain(
        'countersign_http_request_duration_seconds_count{method="GET",route="/echo/:word",status="200"} 1',
      )
      expect(text).to.contain('countersign_call_duration_seconds_count{queue="otp.calls",outcome="answered"} 1')
      expect(text).to.contain('countersign_broker_messages_total{queue="otp.calls",outcome="answered"} 1')
      expect(text).to.contain('countersign_broker_state{state="up"} 1')
      expect(text).to.match(/countersign_store_duration_seconds_count\{collection="companies",operation="get"\} \d/)
    }
    expect((await get(`${metricsUrl}/echo/hello`)).status).to.equal(404)
  })

  it('has its secrets again after a restart', async () => {
    const first = await start({ services: ECHO })
    const second = await first.restart()
    expect(second.secrets).to.deep.equal(first.secrets)
  })
})

describeCountersign('the bootstrap file of a composition', start => {
  const stored = ({ engines }: Countersign) => allTenancyDocs(engines.store)
  const failure = (starting: Promise<unknown>) => starting.catch((error: unknown) => error)

  it('is applied before it is ready, and tells the keys and secrets it made, once', async () => {
    const running = await start({ services: ECHO, bootstrap: fullBootstrapFile() })
    expect((await stored(running)).companies.map(({ _id }) => _id)).to.deep.equal(['cmp_acme', 'cmp_other'])
    expect(running.printed())
      .to.match(/^New key key_made: sk_live_\w+$/m)
      .and.to.match(/^New webhook signing secret of app_other: whsec_\S+$/m)
    const key = /sk_live_\w+/.exec(running.printed())?.[0] ?? ''
    const [log, documents] = [running.log.output(), JSON.stringify(await stored(running))]
    expect(log + documents).not.to.contain(key)
    expect((await running.restart()).printed()).to.equal('')
  })

  it('changes nothing at a restart', async () => {
    const first = await start({ services: ECHO, bootstrap: fullBootstrapFile() })
    const before = await stored(first)
    expect(await stored(await first.restart())).to.deep.equal(before)
  })

  it('with a mistake is refused by its path, and nothing is applied', async () => {
    const first = await start({ services: ECHO, bootstrap: { companies: [{ id: 'cmp_acme' }] } })
    const before = await stored(first)
    const companies = [
      { id: 'cmp_new' },
      { id: 'cmp_acme', apps: [{ id: 'app_x', settings: { verify_attempts: 99 } }] },
    ]
    const refusal = await failure(first.restart({ bootstrap: { companies } }))
    expect(refusal).to.be.instanceOf(BootstrapProblems)
    expect((refusal as Error).message).to.match(/^companies\.1\.apps\.0\.settings\.verify_attempts: /)
    expect(await stored(await start({ services: ECHO, site: first.site, bootstrap: {} }))).to.deep.equal(before)
  })

  it('with an address that would not be called is refused by its path, unless the operator allows it', async () => {
    const webhook = { url: 'http://127.0.0.1:9000/' }
    const file = { companies: [{ id: 'cmp_acme', apps: [{ id: 'app_x', webhook }] }] }
    const first = await start({ services: ECHO, bootstrap: {} })
    const refusal = await failure(first.restart({ bootstrap: file }))
    expect(refusal).to.be.instanceOf(BootstrapProblems)
    expect((refusal as Error).message).to.match(/^companies\.0\.apps\.0\.webhook\.url: would not be called: /)
    const env = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }
    const allowed = await start({ services: ECHO, site: first.site, bootstrap: file, env })
    expect(JSON.stringify(await stored(allowed))).to.include(webhook.url)
  })

  it('that contradicts what is stored is refused by its path, and nothing is applied', async () => {
    const file = (owner: string) => ({ companies: [{ id: owner, apps: [{ id: 'app_shop' }] }] })
    const first = await start({ services: ECHO, bootstrap: file('cmp_one') })
    const before = await stored(first)
    const refusal = await failure(first.restart({ bootstrap: file('cmp_two') }))
    expect(refusal).to.be.instanceOf(BootstrapProblems)
    expect((refusal as Error).message).to.equal('companies.0.apps.0.id: is an app of cmp_one already')
    expect(await stored(await start({ services: ECHO, site: first.site, bootstrap: {} }))).to.deep.equal(before)
  })
})

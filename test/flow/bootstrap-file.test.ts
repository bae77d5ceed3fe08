import { expect } from 'chai'
import { BootstrapProblems } from '../../services/domain/bootstrap/bootstrap.ts'
import { fullBootstrapFile } from '../support/bootstrap.ts'
import { type Countersign, describeCountersignOnce } from '../support/countersign.ts'
import { ECHO } from '../support/echo.ts'
import { allTenancyDocs } from '../support/tenancy.ts'

describeCountersignOnce('a bootstrap file', start => {
  const stored = ({ engines }: Countersign) => allTenancyDocs(engines.store)
  const failure = (starting: Promise<unknown>) => starting.catch((error: unknown) => error)

  it('is applied before the process is ready, and its new keys and secrets are printed once', async () => {
    const running = await start({ services: ECHO, bootstrap: fullBootstrapFile() })
    expect((await stored(running)).companies.map(({ _id }) => _id)).to.deep.equal([
      'cmp_acme',
      'cmp_console',
      'cmp_other',
    ])
    expect(running.printed())
      .to.match(/^New key key_made: sk_live_\w+$/m)
      .and.to.match(/^New webhook signing secret of app_other: whsec_\S+$/m)
    const key = /sk_live_\w+/.exec(running.printed())?.[0] ?? ''
    const [log, documents] = [running.log.output(), JSON.stringify(await stored(running))]
    expect(log + documents).not.to.contain(key)
    expect((await running.restart()).printed()).not.to.match(/New|whsec_|sk_live_/)
  })

  it('gives the console an email provider, and cannot give its app to another company', async () => {
    const config = { host: 'mail.example', port: 587, from: 'console@shop.example' }
    const providers = [{ name: 'mail', type: 'smtp', config }]
    const app = { id: 'app_console', providers }
    const env = { ALLOW_PRIVATE_TARGETS: '1' }
    const refusal = await failure(
      start({ services: ECHO, env, bootstrap: { companies: [{ id: 'cmp_x', apps: [app] }] } }),
    )
    expect((refusal as Error).message).to.equal('companies.0.apps.0.id: is an app of cmp_console already')
    const running = await start({ services: ECHO, env, bootstrap: { companies: [{ id: 'cmp_console', apps: [app] }] } })
    const { companies, apps, providers: storedProviders } = await stored(running)
    expect(companies.map(({ name }) => name)).to.deep.equal(['Countersign console'])
    expect(apps[0]).to.include({ name: 'Countersign console', company_id: 'cmp_console' })
    expect(apps[0]?.settings).to.deep.include({ routing: { default: ['email'] } })
    expect(storedProviders.map(({ app_id }) => app_id)).to.deep.equal(['app_console'])
  })

  it('with a mistake stops the start with the path of the mistake, and nothing is applied', async () => {
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
})

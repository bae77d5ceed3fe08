// A dashboard with a process, and so an address, of its own: its pages call the client API there.
import { expect } from 'chai'
import { ROLES } from '../../infra/config/config.ts'
import { ask, createCaller } from '../support/api-caller.ts'
import { type Countersign, createStarter } from '../support/countersign.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber, wrongCode } from '../support/flow.ts'

onRealEngines('a dashboard in a process of its own', { AMQP_URL, MONGODB_URL }, () => {
  const start = createStarter('real')
  const statusOf = async (url: string): Promise<number> => {
    const response = await fetch(url)
    await response.text()
    return response.status
  }
  const adminOf =
    ({ url, secrets }: Countersign) =>
    (method: string, path: string, body?: object) =>
      ask(`${url}/admin/v1${path}`, {
        method,
        token: secrets.adminTokens[0]?.token ?? '',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })

  it('answers the client API and its reference beside its own, and leaves callbacks to the edge', async () => {
    const others = await start({ roles: ROLES.filter(role => role !== 'dashboard') })
    const dashboard = await start({ roles: ['dashboard'], site: others.site, env: { METRICS_PORT: '0' } })
    const admin = adminOf(dashboard)
    const keyOf = async (kind: string) => (await admin('POST', '/apps/app_demo/keys', { kind, mode: 'test' })).body.key
    const server = createCaller(dashboard.url, await keyOf('server'))
    const device = createCaller(dashboard.url, await keyOf('publishable'))
    const waitForCode = (recipient: string): Promise<string> =>
      eventually(async () => {
        const { body } = await admin('GET', `/sandbox/messages?recipient=${encodeURIComponent(recipient)}`)
        expect(body).to.have.length(1)
        return body[0].code
      })

    const to = freshNumber()
    const { otp_id } = (await server.send(to)).body
    const code = await waitForCode(to)
    expect((await server.verify(otp_id, wrongCode(code))).body).to.include({ matched: false })
    expect((await server.verify(otp_id, code)).body).to.include({ matched: true, status: 'approved' })

    const byDevice = freshNumber()
    const started = (await device.send(byDevice)).body.otp_id
    const { verification_token } = (await device.verify(started, await waitForCode(byDevice))).body
    expect((await server.exchange(verification_token)).body).to.include({ recipient: byDevice })

    for (const path of ['/docs', '/openapi.json', '/readyz', '/try', '/'])
      expect(await statusOf(`${dashboard.url}${path}`), path).to.equal(200)
    expect(await statusOf(`${dashboard.url}/api/v1/otp/none`), 'without a key').to.equal(401)
    // What other programs call is at the edge alone.
    const postTo = async (url: string): Promise<number> => (await fetch(url, { method: 'POST' })).status
    expect(await postTo(`${dashboard.url}/callbacks/app_demo/any`)).to.equal(404)
    expect(await statusOf(`${others.url}/element.js`)).to.equal(200)
    expect(await statusOf(`${dashboard.url}/element.js`)).to.equal(404)
    for (const path of ['/hooks/supabase/app_demo', '/compat/twilio/v2/Services/VA1/Verifications']) {
      expect(await postTo(`${others.url}${path}`), path).to.be.oneOf([400, 401])
      expect(await postTo(`${dashboard.url}${path}`), path).to.equal(404)
    }
    for (const path of ['/try', '/admin/v1/me']) expect(await statusOf(`${others.url}${path}`), path).to.equal(404)

    const sends = dashboard.log.lines().filter(({ route }) => route === '/api/v1/otp/send')
    expect(sends.map(({ role, status }) => `${role} ${status}`)).to.deep.equal(['dashboard 200', 'dashboard 200'])
    const metrics = await (await fetch(`${dashboard.metricsUrl}/metrics`)).text()
    expect(metrics).to.contain('route="/api/v1/otp/send",status="200"} 2')
    // Uses are written a second after the first one, then every minute: on a busy machine the second key comes after that second.
    await eventually(async () => {
      const { items } = (await admin('GET', '/apps/app_demo/keys')).body
      expect(items.filter(({ last_used_at }: { last_used_at: string | null }) => last_used_at !== null)).to.have.length(
        2,
      )
    })
  })
})

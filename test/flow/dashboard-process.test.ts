// A dashboard with a process, and so an address, of its own: its pages call the client API there.
import { expect } from 'chai'
import { ROLES } from '../../infra/config/config.ts'
import { type Answer, ask } from '../support/api-caller.ts'
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
    const serverKey = (await admin('POST', '/apps/app_demo/keys', { kind: 'server', mode: 'test' })).body.key
    const signIn = await fetch(`${dashboard.url}/admin/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: dashboard.url },
      body: JSON.stringify({ token: dashboard.secrets.adminTokens[0]?.token }),
    })
    const cookie = signIn.headers
      .getSetCookie()
      .map(one => one.split(';')[0])
      .join('; ')
    expect(signIn.status).to.equal(200)
    /** A call as a page of the dashboard makes it. */
    const server = (path: string, body: object): Promise<Answer> =>
      ask(`${dashboard.url}/api/v1${path}`, {
        method: 'POST',
        token: serverKey,
        headers: { cookie },
        body: JSON.stringify(body),
      })
    const to = freshNumber()
    const { otp_id } = (await server('/otp/send', { recipient: to })).body
    const code = await eventually(async () => {
      const { body } = await admin('GET', `/sandbox/messages?recipient=${encodeURIComponent(to)}`)
      expect(body).to.have.length(1)
      return body[0].code
    })
    expect((await server('/otp/verify', { otp_id, code: wrongCode(code) })).body).to.include({ matched: false })
    expect((await server('/otp/verify', { otp_id, code })).body).to.include({ matched: true, status: 'approved' })

    // A key alone calls at the edge.
    const withKey = async (url: string, path: string, headers: Record<string, string> = {}): Promise<number> => {
      const init = { headers: { authorization: `Bearer ${serverKey}`, ...headers } }
      return (await fetch(`${url}${path}/${otp_id}`, init)).status
    }
    expect(await withKey(others.url, '/api/v1/otp')).to.equal(200)
    expect(await withKey(dashboard.url, '/api/v1/otp')).to.equal(404)
    expect(await withKey(dashboard.url, '/API/v1/OTP'), 'in capitals').to.equal(404)
    const ended = { cookie: cookie.replace(/=.*/, `=${'a'.repeat(43)}`) }
    expect(await withKey(dashboard.url, '/api/v1/otp', ended), 'a session that is none').to.equal(404)

    for (const path of ['/docs', '/openapi.json', '/readyz', '/try', '/'])
      expect(await statusOf(`${dashboard.url}${path}`), path).to.equal(200)
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
    expect(sends.map(({ role, status }) => `${role} ${status}`)).to.deep.equal(['dashboard 200'])
    const metrics = await (await fetch(`${dashboard.metricsUrl}/metrics`)).text()
    expect(metrics).to.contain('route="/api/v1/otp/send",status="200"} 1')
    await eventually(async () => {
      const { items } = (await admin('GET', '/apps/app_demo/keys')).body
      const used = items.filter(({ last_used_at }: { last_used_at: string | null }) => last_used_at !== null)
      expect(used).to.have.length(1)
    })
  })
})

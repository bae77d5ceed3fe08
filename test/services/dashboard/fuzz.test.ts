// Random input for webhooks and providers: it is accepted, or refused with the paths of its problems. It never causes a 500.
import { expect } from 'chai'
import fc from 'fast-check'
import { PROVIDER_TYPES } from '../../../services/domain/tenancy/provider-types/list.ts'
import { type Answer, closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const MEMBERS = [
  'account_sid',
  'auth_token',
  'from',
  'base_url',
  'application_id',
  'private_key',
  'url',
  'method',
  'headers',
  'body',
  'secret',
  'token',
  'host',
  'port',
  'secure',
  'user',
  'pass',
  'dkim',
  'template',
  '__proto__',
  'constructor',
]
const TEXTS = [
  '',
  'https://shop.example',
  'http://10.0.0.1',
  'hmac:00000000',
  '+15005550006',
  'a@b.example',
  '\u0000',
  '\ud800',
  '{{code}}',
]

const value = fc.oneof(fc.constantFrom<unknown>(...TEXTS, null, true, 0, 1e300, -1), fc.jsonValue({ maxDepth: 3 }))
const config = fc.oneof(fc.dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: 12 }), value)
const provider = fc.record(
  {
    type: fc.oneof(fc.constantFrom(...PROVIDER_TYPES), value),
    channel: fc.oneof(fc.constantFrom('sms', 'email'), value),
    position: value,
    config,
  },
  { requiredKeys: ['type'] },
)
const webhook = fc.record(
  { url: value, secret: value, status: value, immediate: value, since: value, until: value },
  { requiredKeys: [] },
)

onEmbeddedStore('random input', fresh => {
  let admin: TestAdmin
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    app = (await createTenant(admin)).app
  })
  afterEach(closeAdmins)

  function expectAcceptedOrRefused({ status, body }: Answer): void {
    expect(status, JSON.stringify(body)).to.be.oneOf([200, 201, 400, 404, 409, 422])
    if (status === 422) expect(body.errors).to.be.an('array').and.not.have.length(0)
  }
  const sendTo = (method: string, path: string) => async (body: unknown) =>
    expectAcceptedOrRefused(await admin.ask(method, `/apps/${app}${path}`, body))

  it('is accepted as a provider or refused', () =>
    fc.assert(fc.asyncProperty(fc.oneof(provider, value), sendTo('PUT', '/providers/main')), {
      numRuns: propertyRuns(50),
    }))

  for (const [method, path] of [
    ['PUT', '/webhook'],
    ['POST', '/webhook/rotate'],
    ['POST', '/webhook/promote'],
    ['POST', '/webhook/enable'],
    ['POST', '/webhook/test'],
    ['POST', '/events/replay'],
  ] as const)
    it(`is accepted by ${method} ${path} or refused`, async () => {
      await admin.ask('PUT', `/apps/${app}/webhook`, { url: 'https://shop.example' })
      await fc.assert(fc.asyncProperty(fc.oneof(webhook, value), sendTo(method, path)), { numRuns: propertyRuns(20) })
    })

  // The caller takes the segments `.` and `..` out of an address before the request.
  const isSegment = (text: string): boolean => text !== '.' && text !== '..'

  it('as the id of an app, provider or event is found or 404', () =>
    fc.assert(
      fc.asyncProperty(fc.string().filter(isSegment), async text => {
        const name = encodeURIComponent(text)
        for (const path of [`/apps/${name}/webhook`, `/apps/${name}/providers`, `/apps/${app}/providers/${name}`])
          expectAcceptedOrRefused(await admin.get(path))
        expectAcceptedOrRefused(await admin.ask('POST', `/events/${name}/replay`))
        expectAcceptedOrRefused(await admin.get(`/apps/${app}/events?otp_id=${name}&status=${name}`))
      }),
      { numRuns: propertyRuns(15) },
    ))
})

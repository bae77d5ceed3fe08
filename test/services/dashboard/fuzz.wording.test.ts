// Random input for every operation of the admin API: each problem is said in words of our own, and none is a 500.
import { expect } from 'chai'
import fc from 'fast-check'
import { PROVIDER_TYPES } from '../../../services/domain/tenancy/provider-types/list.ts'
import { type Answer, closeAdmins, type TestAdmin } from '../../support/admin-api.ts'
import { createWorld, DECLARED, requestOf, type World } from '../../support/operation-examples.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { ZOD_WORDING } from '../../support/zod-wording.ts'

/** Names of members of any body or query, some of them mistyped. */
const NAMES =
  'name closed settings kind mode micros note recipient prices lists class cidrs text url confirm refresh_seconds type channel country position config secret since until app_id from immediate limits code length channels whatsapp nam setings'.split(
    ' ',
  )
const CONFIG_NAMES =
  'account_sid auth_token from base_url application_id private_key url method headers body secret token host port secure user pass dkim template __proto__ constructor'.split(
    ' ',
  )
const VALUES: unknown[] = [
  '',
  'x',
  'sms',
  'server',
  'test',
  0,
  1.5,
  -1,
  1e300,
  true,
  null,
  [],
  {},
  '2030-01-01',
  'https://shop.example',
  '\u0000',
  '\ud800',
  '{{code}}',
]

const value = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...VALUES),
    fc.jsonValue({ maxDepth: 1 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('any'), { maxKeys: 6 }),
    fc.array(tie('any'), { maxLength: 3 }),
  ),
})).any
const body = fc.oneof(
  { weight: 9, arbitrary: fc.dictionary(fc.constantFrom(...NAMES), value) },
  { weight: 1, arbitrary: value },
)
const provider = fc.record(
  {
    type: fc.oneof(fc.constantFrom(...PROVIDER_TYPES), value),
    channel: fc.oneof(fc.constantFrom('sms', 'email'), value),
    position: value,
    config: fc.oneof(fc.dictionary(fc.constantFrom(...CONFIG_NAMES), value, { maxKeys: 12 }), value),
  },
  { requiredKeys: ['type'] },
)
const query = fc.dictionary(
  fc.constantFrom('limit', 'cursor', 'recipient', 'status', 'company_id', 'otp_id', 'since', 'until', 'limt'),
  fc.constantFrom('', '0', '1', 'x', '101', '2030-01-01', '%'),
)

onEmbeddedStore('random input to the admin API', fresh => {
  let world: World
  let admin: TestAdmin
  beforeEach(async () => {
    world = await createWorld(await fresh())
    admin = world.admin
  })
  afterEach(closeAdmins)

  function expectOurWords({ status, body: answer }: Answer): void {
    expect(status, JSON.stringify(answer)).to.be.below(500)
    if (status !== 422) return
    expect(answer.detail).to.be.a('string').and.not.match(ZOD_WORDING)
    expect(answer.errors).to.be.an('array').and.not.have.length(0)
    for (const { path, message } of answer.errors) {
      expect(path).to.be.a('string')
      // The words follow the name of the member, so they begin in lower case.
      expect(message, path)
        .to.match(/^[a-z]/)
        .and.not.match(ZOD_WORDING)
    }
  }

  it('is refused in words of our own, in every body', async () => {
    for (const [request] of DECLARED) {
      const { method, path, body: takes } = requestOf(request, world)
      if (takes === undefined) continue
      const given = path.endsWith('/providers/mail') ? fc.oneof(provider, body) : body
      await fc.assert(
        fc.asyncProperty(given, async wrong => expectOurWords(await admin.ask(method, path, wrong))),
        { numRuns: propertyRuns(12) },
      )
    }
  })

  it('is refused in words of our own, in every query', async () => {
    for (const [request] of DECLARED.filter(([one]) => one.startsWith('GET ')))
      await fc.assert(
        fc.asyncProperty(query, async given => {
          const [path] = requestOf(request, world).path.split('?')
          expectOurWords(await admin.get(`${path}?${new URLSearchParams(given)}`))
        }),
        { numRuns: propertyRuns(5) },
      )
  })

  // The caller takes the segments `.` and `..` out of an address before the request.
  const segment = fc.string().filter(text => text !== '.' && text !== '..')

  it('is found or 404 as an id', () =>
    fc.assert(
      fc.asyncProperty(segment, async text => {
        const id = encodeURIComponent(text)
        for (const path of [
          `/apps/${id}/webhook`,
          `/apps/${world.app}/providers/${id}`,
          `/apps/${world.app}/events?otp_id=${id}`,
        ])
          expectOurWords(await admin.get(path))
        expectOurWords(await admin.ask('POST', `/events/${id}/replay`))
      }),
      { numRuns: propertyRuns(15) },
    ))
})

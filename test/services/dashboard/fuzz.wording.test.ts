// Random input for every route of the admin API: each problem is said in words of our own, and none is a 500.
import { expect } from 'chai'
import fc from 'fast-check'
import { type Answer, closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { ZOD_WORDING } from '../../support/zod-wording.ts'

/** Names of members of any body or query, some of them mistyped. */
const NAMES = [
  'name',
  'closed',
  'settings',
  'kind',
  'mode',
  'micros',
  'note',
  'recipient',
  'prices',
  'lists',
  'class',
  'cidrs',
  'text',
  'url',
  'confirm',
  'refresh_seconds',
  'type',
  'channel',
  'country',
  'position',
  'config',
  'secret',
  'since',
  'until',
  'app_id',
  'from',
  'immediate',
  'limits',
  'code',
  'length',
  'channels',
  'whatsapp',
  'nam',
  'setings',
]
const VALUES: unknown[] = ['', 'x', 'sms', 'server', 'test', 0, 1.5, -1, 1e300, true, null, [], {}, '2030-01-01']

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
const query = fc.dictionary(
  fc.constantFrom('limit', 'cursor', 'recipient', 'status', 'company_id', 'otp_id', 'since', 'until', 'limt'),
  fc.constantFrom('', '0', '1', 'x', '101', '2030-01-01', '%'),
)

onEmbeddedStore('random input to the admin API', fresh => {
  let admin: TestAdmin
  let app: string
  let company: string
  let key: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    const made = await createTenant(admin)
    app = made.app
    company = made.company
    key = (await admin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' })).body.id
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

  const bodies = (): [string, string][] => [
    ['POST', '/companies'],
    ['PATCH', `/companies/${company}`],
    ['POST', `/companies/${company}/credit`],
    ['POST', `/companies/${company}/apps`],
    ['PATCH', `/apps/${app}`],
    ['POST', `/apps/${app}/keys`],
    ['PATCH', `/keys/${key}`],
    ['PUT', `/apps/${app}/providers/main`],
    ['PUT', `/apps/${app}/webhook`],
    ['POST', `/apps/${app}/webhook/rotate`],
    ['POST', `/apps/${app}/events/replay`],
    ['POST', `/apps/${app}/route`],
    ['POST', `/apps/${app}/erase`],
    ['PUT', '/prices'],
    ['POST', '/prices/try'],
    ['PUT', '/ip-lists'],
    ['POST', '/sandbox/inbound'],
  ]

  it('is refused in words of our own, in every body', async () => {
    for (const [method, path] of bodies())
      await fc.assert(
        fc.asyncProperty(body, async given => expectOurWords(await admin.ask(method, path, given))),
        { numRuns: propertyRuns(12) },
      )
  })

  it('is refused in words of our own, in every query', async () => {
    const paths = [
      '/companies',
      `/companies/${company}/ledger`,
      `/companies/${company}/apps`,
      `/apps/${app}/keys`,
      `/apps/${app}/events`,
      `/apps/${app}/verifications`,
      `/apps/${app}/fraud/prefixes`,
      '/prices',
      '/ip-lists',
      '/sandbox/messages',
      '/audit',
    ]
    for (const path of paths)
      await fc.assert(
        fc.asyncProperty(query, async given =>
          expectOurWords(await admin.get(`${path}?${new URLSearchParams(given)}`)),
        ),
        { numRuns: propertyRuns(5) },
      )
  })

  it('is answered with the name that was meant, the range and the choices', async () => {
    const words = async (method: string, path: string, given?: unknown) =>
      (await admin.ask(method, path, given)).body.errors.map(
        ({ path, message }: Record<string, string>) => `${path} ${message}`,
      )
    expect(await words('GET', '/companies?limt=5')).to.deep.equal(['limt is not known; did you mean `limit`?'])
    expect(await words('POST', '/companies', {})).to.deep.equal(['name is required'])
    expect(await words('POST', `/apps/${app}/keys`, { kind: 'x' })).to.deep.equal([
      'kind must be one of server, publishable',
      'mode is required',
    ])
    expect(await words('PATCH', `/apps/${app}`, { settings: { verify_attempts: 11 } })).to.deep.equal([
      'settings.verify_attempts must be a whole number from 1 to 10',
    ])
    expect((await admin.ask('POST', '/companies', { nam: 'Acme' })).body.detail).to.equal(
      'name is required; nam is not known; did you mean `name`?',
    )
  })
})

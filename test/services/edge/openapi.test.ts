// The OpenAPI document is consistent, its examples match its schemas, and the edge has the routes that it names.
import { expect } from 'chai'
import { componentSchemas, type SchemaName, schemaNamed } from '../../../services/edge/openapi/components.ts'
import {
  createOpenApiDocument,
  type Response as Documented,
  type Operation,
} from '../../../services/edge/openapi/document.ts'
import { KEYS, OTP_ID, startTestEdge, type TestEdge } from '../../support/edge.ts'

const document = createOpenApiDocument('/api/v1')

const operations: [string, Operation][] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
)

/** Every `$ref` anywhere in a value. */
const refsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => (name === '$ref' ? [String(member)] : refsIn(member)))
}

const resolve = (ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document)

const nameIn = (ref: string): SchemaName => ref.slice(ref.lastIndexOf('/') + 1) as SchemaName

/** Each example of a request or response body, with the name of its schema. */
const examplesOf = (content: Documented['content']): [SchemaName, unknown][] =>
  Object.values(content).flatMap(({ schema, example, examples = {} }) => [
    ...(example === undefined ? [] : [[nameIn(schema.$ref), example] as [SchemaName, unknown]]),
    ...Object.values(examples).map(({ value }): [SchemaName, unknown] => [nameIn(schema.$ref), value]),
  ])

describe('the OpenAPI document', () => {
  it('names every operation once', () => {
    expect(operations.map(([name]) => name).sort()).to.deep.equal([
      'get /otp/{otp_id}',
      'post /otp/cancel',
      'post /otp/resend',
      'post /otp/send',
      'post /otp/verify',
      'post /verifications/exchange',
    ])
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(new Set(ids).size).to.equal(ids.length)
  })

  it('refers only to components it has', () => {
    const refs = [...new Set(refsIn(document))]
    expect(refs).to.have.length.above(10)
    for (const ref of refs) expect(resolve(ref), ref).to.be.an('object')
  })

  it('declares every parameter of a path', () => {
    for (const [name, { parameters = [] }] of operations) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      expect(parameters.filter(one => one.in === 'path').map(one => one.name)).to.deep.equal(inPath)
    }
  })

  it('describes every schema, in plain JSON Schema', () => {
    for (const [name, schema] of Object.entries(componentSchemas())) {
      expect(schema.description, name).to.be.a('string')
      expect(schema, name).not.to.have.any.keys('$schema', '$id')
      expect(schema.type, name).to.equal('object')
      expect(schema.additionalProperties, name).to.equal(undefined)
    }
    expect(JSON.stringify(document)).not.to.contain(String(Number.MAX_SAFE_INTEGER))
  })

  it('lists the required members of each request, as the parser requires them', () => {
    const required = (name: SchemaName) => document.components.schemas[name].required
    expect(required('SendRequest')).to.deep.equal(['recipient'])
    expect(required('ResendRequest')).to.deep.equal(['otp_id'])
    expect(required('VerifyRequest')).to.deep.equal(['otp_id', 'code'])
    expect(required('CancelRequest')).to.deep.equal(['otp_id'])
    expect(required('ExchangeRequest')).to.deep.equal(['verification_token'])
    expect(document.components.schemas.ExchangeRequest.properties?.verification_token).to.include({
      pattern: '^otp_vt_.*',
      maxLength: 128,
    })
  })

  for (const [name, operation] of operations) {
    const { requestBody, responses } = operation
    it(`gives examples for ${name} that match its schemas`, () => {
      const contents = [requestBody?.content ?? {}, ...Object.values(responses).map(({ content }) => content)]
      const examples = contents.flatMap(examplesOf)
      expect(examples.length).to.be.at.least(Object.keys(responses).length + (requestBody ? 1 : 0))
      for (const [schema, value] of examples) {
        const { error } = schemaNamed(schema).safeParse(value)
        expect(error, `${schema}: ${JSON.stringify(value)}`).to.equal(undefined)
      }
    })

    it(`documents the errors of ${name} under their status`, () => {
      for (const [status, { content }] of Object.entries(responses))
        for (const [type, { value }] of Object.entries(content['application/problem+json']?.examples ?? {}))
          expect(value).to.deep.include({ type, status: Number(status) })
    })

    it(`documents the headers of every answer to ${name}`, () => {
      for (const [status, { headers }] of Object.entries(responses)) {
        expect(headers).to.have.property('X-Request-Id')
        expect('Retry-After' in headers).to.equal(['429', '503'].includes(status))
        expect('WWW-Authenticate' in headers).to.equal(status === '401')
      }
    })
  }

  const statuses: Record<string, number[]> = {
    send: [200, 400, 401, 402, 403, 409, 413, 415, 422, 429, 500, 503],
    resend: [200, 400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 503],
    verify: [200, 400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 503],
    status: [200, 401, 403, 404, 500, 503],
    cancel: [200, 400, 401, 404, 409, 410, 413, 415, 422, 500, 503],
    exchange: [200, 400, 401, 404, 413, 415, 422, 500, 503],
  }
  for (const [, { operationId, responses }] of operations)
    it(`lists every status of ${operationId}`, () => {
      expect(Object.keys(responses).map(Number)).to.deep.equal(statuses[operationId])
    })

  it('links only to operations it has, by members that both operations have', () => {
    const byId = new Map(operations.map(([, operation]) => [operation.operationId, operation]))
    const links = operations.flatMap(([, { responses }]) => Object.values(responses[200]?.links ?? {}))
    expect(links.map(link => link.operationId)).to.deep.equal(['status', 'resend', 'verify', 'cancel', 'exchange'])
    for (const { operationId, parameters = {}, requestBody = {} } of links) {
      const target = byId.get(operationId)
      const [body] = Object.values(target?.requestBody?.content ?? {})
      const members = body ? document.components.schemas[nameIn(body.schema.$ref)].properties : {}
      for (const name of Object.keys(requestBody)) expect(members).to.have.property(name)
      for (const name of Object.keys(parameters)) expect(target?.parameters?.map(one => one.name)).to.include(name)
    }
  })

  it('names the kinds of key that each operation accepts', () => {
    const keys = Object.fromEntries(
      operations.map(([, { operationId, security }]) => [operationId, security.flatMap(Object.keys)]),
    )
    expect(keys).to.deep.equal({
      send: ['server', 'publishable'],
      resend: ['server', 'publishable'],
      verify: ['server', 'publishable'],
      status: ['server', 'publishable'],
      cancel: ['server'],
      exchange: ['server'],
    })
  })

  describe('as it is served', () => {
    let edge: TestEdge
    before(async () => {
      edge = await startTestEdge({ publicUrl: 'https://otp.example' })
    })
    after(() => edge.close())

    it('is JSON that any page may read and browsers may cache', async () => {
      const response = await edge.request('/openapi.json')
      expect(response.status).to.equal(200)
      expect(response.headers.get('content-type')).to.match(/^application\/json/)
      expect(response.headers.get('cache-control')).to.equal('public, max-age=300')
      expect(response.headers.get('access-control-allow-origin')).to.equal('*')
      const served = (await response.json()) as typeof document
      expect(served.openapi).to.equal('3.1.0')
      expect(served.servers).to.deep.equal([{ url: 'https://otp.example/api/v1' }])
      expect(served.paths).to.deep.equal(JSON.parse(JSON.stringify(document.paths)))
    })

    it('is not sent again to a client that has it', async () => {
      const etag = (await edge.request('/openapi.json')).headers.get('etag') ?? ''
      expect(etag).not.to.equal('')
      // Without this Cache-Control, fetch sends no-cache with If-None-Match.
      const headers = { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' }
      const again = await edge.request('/openapi.json', { headers })
      expect(again.status).to.equal(304)
      expect(await again.text()).to.equal('')
    })

    for (const [name] of operations)
      it(`names a route that exists: ${name}`, async () => {
        const [method = '', path = ''] = name.split(' ')
        const response = await edge.request(`/api/v1${path.replace('{otp_id}', OTP_ID)}`, {
          method: method.toUpperCase(),
          headers: { Authorization: `Bearer ${KEYS.serverTest}` },
        })
        const problem = (await response.json()) as { type: string }
        expect([response.status, problem.type]).to.deep.equal(
          method === 'get' ? [404, 'OtpNotFoundError'] : [422, 'ValidationError'],
        )
      })
  })
})

// The client API in the OpenAPI document, and the document as the edge serves it. test/docs/openapi.test.ts has what holds for all of it.
import { expect } from 'chai'
import { type Operation, resolveResponse } from '../../../infra/openapi/document.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../machines/webhook-events.ts'
import { CLIENT_API } from '../../../services/edge/operations.ts'
import { createFileDocument } from '../../openapi/document.ts'
import { startTestEdge, type TestEdge } from '../../support/edge.ts'

const document = createFileDocument()

const operations: Operation[] = CLIENT_API.operations.flatMap(
  ({ method, path }) => document.paths[path]?.[method] ?? [],
)

const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

describe('the client API in the OpenAPI document', () => {
  it('links only to operations it has, by members that both operations have', () => {
    const byId = new Map(operations.map(operation => [operation.operationId, operation]))
    const links = operations.flatMap(({ responses }) =>
      Object.values(responses[200] ? (resolveResponse(document, responses[200]).links ?? {}) : {}),
    )
    expect(links.map(link => link.operationId)).to.deep.equal([
      'status',
      'resend',
      'verify',
      'cancel',
      'exchange',
      'messageStatus',
    ])
    for (const { operationId, parameters = {}, requestBody = {} } of links) {
      const target = byId.get(operationId)
      const [body] = Object.values(target?.requestBody?.content ?? {})
      const members = body ? document.components.schemas[nameIn(body.schema.$ref)]?.properties : {}
      for (const name of Object.keys(requestBody)) expect(members).to.have.property(name)
      for (const name of Object.keys(parameters)) expect(target?.parameters?.map(one => one.name)).to.include(name)
    }
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
      expect(served.servers).to.deep.equal([{ url: 'https://otp.example', description: 'This deployment.' }])
      expect(served.paths).to.deep.equal(JSON.parse(JSON.stringify(document.paths)))
      expect(Object.keys(served.webhooks)).to.deep.equal([...WEBHOOK_EVENT_TYPES, 'webhook.test'])
    })

    it('has every operation of the edge, and no other', () => {
      const documented = CLIENT_API.operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
      expect(documented.sort()).to.deep.equal(edge.served.sort())
    })
  })
})

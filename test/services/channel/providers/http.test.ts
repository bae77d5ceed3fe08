import { expect } from 'chai'
import type { OutboundRequest } from '../../../../infra/outbound/outbound.ts'
import { type Provider, type ProviderDeps, ProviderFault } from '../../../../services/channel/provider.ts'
import { createHttpProvider } from '../../../../services/channel/providers/http.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { itNamesVendorFaults } from '../../../support/vendors/fault-cases.ts'
import { type HttpGateway, startHttpGateway } from '../../../support/vendors/http-gateway.ts'
import {
  CODE,
  DELIVERY_ID,
  RECIPIENT,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'

describe('an HTTP gateway', () => {
  let gateway: HttpGateway
  let deps: TestProviderDeps

  before(async () => {
    gateway = await startHttpGateway({ authorization: 'Bearer key-1' })
    deps = testProviderDeps()
  })
  after(async () => {
    await deps.outbound.close()
    await gateway.close()
  })

  const config = (more: Partial<ProviderConfigs['http']> = {}): ProviderConfigs['http'] => ({
    url: `${gateway.url}/send?tenant=7`,
    method: 'POST',
    headers: { Authorization: 'Bearer key-1' },
    body: { recipient: '{{recipient}}', text: '{{text}}', delivery_id: '{{delivery_id}}' },
    secret: null,
    ...more,
  })
  const createProvider = (more: Partial<ProviderConfigs['http']> = {}, over: Partial<ProviderDeps> = {}): Provider =>
    createHttpProvider({ config: config(more), channel: 'sms' }, { ...deps, ...over })

  describe('sending', () => {
    it('calls the configured address with the configured method, headers and body', async () => {
      const body = {
        to: ['{{recipient}}'],
        code: '{{code}}',
        n: 1,
        deep: { delivery: '<{{delivery_id}}>' },
        delivery_id: '',
      }
      expect(await send(createProvider({ method: 'PUT', body }))).to.deep.equal({ reference: null, httpStatus: 202 })
      const request = gateway.requests.at(-1)
      expect(request).to.include({ method: 'PUT', path: '/send?tenant=7' })
      expect(request?.headers).to.include({ authorization: 'Bearer key-1', 'content-type': 'application/json' })
      expect(gateway.messages.at(-1)?.requestBody).to.deep.equal({
        to: [RECIPIENT],
        code: CODE,
        n: 1,
        deep: { delivery: `<${DELIVERY_ID}>` },
        delivery_id: '',
      })
    })

    it('sends a header once, in whatever case the config names it', async () => {
      const requests: OutboundRequest[] = []
      const request: ProviderDeps['outbound']['request'] = async outboundRequest => {
        requests.push(outboundRequest)
        return { status: 200, headers: {}, body: new Uint8Array() }
      }
      await send(createProvider({ headers: { 'Content-TYPE': 'a/json' } }, { outbound: { ...deps.outbound, request } }))
      expect(requests.map(({ headers }) => headers)).to.deep.equal([{ 'content-type': 'a/json' }])
    })

    it('lets the config replace the content type', async () => {
      await send(
        createProvider({ headers: { Authorization: 'Bearer key-1', 'Content-Type': 'application/vnd.gw+json' } }),
      )
      expect(gateway.requests.at(-1)?.headers['content-type']).to.equal('application/vnd.gw+json')
    })

    it('ignores configured headers that belong to the connection', async () => {
      const headers = {
        authorization: 'Bearer key-1',
        'Content-Length': '3',
        'Transfer-Encoding': 'chunked',
        Expect: 'x',
      }
      expect(await send(createProvider({ headers }))).to.deep.equal({ reference: null, httpStatus: 202 })
    })

    it("takes 4xx for the provider's fault, because mostly the config is wrong", async () => {
      for (const headers of [{}, { authorization: 'Bearer key-2' }]) {
        const fault = await thrownBy(send(createProvider({ headers })))
        expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('message', 'it answered 401')
      }
    })
  })

  itNamesVendorFaults({
    vendor: () => gateway,
    deps: () => deps,
    refused: ProviderFault,
    parsesSuccess: false,
    createProvider: over => createProvider({ secret: 'a secret' }, over),
    secrets: () => ['key-1', 'a secret', 'tenant=7'],
  })
})

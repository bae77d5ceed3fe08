import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { acme } from '../../docs/examples/acme-provider.ts'
import { BadSignature, type ProviderDeps, RecipientFault } from '../../services/channel/provider.ts'
import { itNamesVendorFaults } from '../support/vendors/fault-cases.ts'
import {
  CALLBACK_URL,
  callbackOf,
  DELIVERY_ID,
  RECIPIENT,
  send,
  type TestProviderDeps,
  testProviderDeps,
} from '../support/vendors/provider-fixtures.ts'
import { startVendor, type Vendor, type VendorCallback } from '../support/vendors/vendor.ts'

const KEY = 'the key of a test account'

interface AcmeMessage {
  id: string
  requestBody: { to: string; tag: string; notify: string }
}

/** The vendor, simulated: what it checks, how it answers, how it signs. */
const acmeVendor = (): Promise<Vendor<AcmeMessage>> =>
  startVendor<AcmeMessage>({
    handleRequest({ path, headers, body }) {
      if (path !== '/messages' || headers.authorization !== `Bearer ${KEY}`) return { answer: { status: 401 } }
      const message = { id: 'acme-1', requestBody: JSON.parse(body.toString()) }
      return { message, answer: { status: 200, body: { id: message.id } } }
    },
    refused: () => ({ status: 400, body: { error: 'no_such_number' } }),
    receipt: ({ id, requestBody }, event): VendorCallback => {
      const body = JSON.stringify({ id, tag: requestBody.tag, event })
      const signature = createHmac('sha256', KEY).update(body).digest('hex')
      return { method: 'POST', url: requestBody.notify, headers: { 'acme-signature': signature }, body }
    },
  })

describe('the provider in docs/adding-a-provider.md', () => {
  let api: Vendor<AcmeMessage>
  let deps: TestProviderDeps

  before(async () => {
    api = await acmeVendor()
    deps = testProviderDeps()
  })
  after(async () => {
    await deps.outbound.close()
    await api.close()
  })

  const made = (over: Partial<ProviderDeps> = {}) =>
    acme({ config: { key: KEY, base_url: api.url } }, { ...deps, ...over })

  it('sends, and names the delivery', async () => {
    expect(await send(made())).to.deep.equal({ reference: 'acme-1' })
    expect(api.messages.at(-1)?.requestBody).to.include({ to: RECIPIENT, tag: DELIVERY_ID, notify: CALLBACK_URL })
  })

  it('hears nothing where it has no address', async () => {
    const provider = made({ callbackUrl: null })
    await send(provider)
    expect(api.messages.at(-1)?.requestBody.notify).to.equal(null)
    expect(provider).not.to.have.property('parseCallback')
  })

  itNamesVendorFaults({
    vendor: () => api,
    deps: () => deps,
    refused: RecipientFault,
    parsesSuccess: true,
    createProvider: made,
    secrets: () => [KEY],
  })

  it('hears receipts, and only signed ones', () => {
    const body = JSON.stringify({ id: 'acme-1', tag: DELIVERY_ID, event: 'delivered' })
    const headers = { 'acme-signature': createHmac('sha256', KEY).update(body).digest('hex') }
    const callback = callbackOf({ method: 'POST', url: CALLBACK_URL, headers, body })
    expect(made().parseCallback?.(callback, 0)).to.deep.equal([
      { kind: 'receipt', delivery_id: DELIVERY_ID, reference: 'acme-1', status: 'delivered' },
    ])
    for (const bad of [
      { ...callback, headers: {} },
      { ...callback, body: Buffer.from(`${body} `) },
    ])
      expect(() => made().parseCallback?.(bad, 0)).to.throw(BadSignature)
  })
})

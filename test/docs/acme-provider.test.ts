import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { createAcmeProvider } from '../../docs/examples/acme-provider.ts'
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

/** Simulates the vendor: what it checks, how it answers, how it signs. */
const startAcme = (): Promise<Vendor<AcmeMessage>> =>
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
    api = await startAcme()
    deps = testProviderDeps()
  })
  after(async () => {
    await deps.outbound.close()
    await api.close()
  })

  const createProvider = (over: Partial<ProviderDeps> = {}) =>
    createAcmeProvider({ config: { key: KEY, base_url: api.url } }, { ...deps, ...over })

  it('sends the message with the delivery id and returns the id that the vendor gave it', async () => {
    expect(await send(createProvider())).to.deep.equal({ reference: 'acme-1', httpStatus: 200 })
    expect(api.messages.at(-1)?.requestBody).to.include({ to: RECIPIENT, tag: DELIVERY_ID, notify: CALLBACK_URL })
  })

  it('has no callbacks without an address for them', async () => {
    const provider = createProvider({ callbackUrl: null })
    await send(provider)
    expect(api.messages.at(-1)?.requestBody.notify).to.equal(null)
    expect(provider).not.to.have.property('parseCallback')
  })

  itNamesVendorFaults({
    vendor: () => api,
    deps: () => deps,
    refused: RecipientFault,
    parsesSuccess: true,
    createProvider,
    secrets: () => [KEY],
  })

  it('parses receipts, and refuses those that are not signed', () => {
    const body = JSON.stringify({ id: 'acme-1', tag: DELIVERY_ID, event: 'delivered' })
    const headers = { 'acme-signature': createHmac('sha256', KEY).update(body).digest('hex') }
    const callback = callbackOf({ method: 'POST', url: CALLBACK_URL, headers, body })
    expect(createProvider().parseCallback?.(callback, 0)).to.deep.equal([
      { kind: 'receipt', delivery_id: DELIVERY_ID, reference: 'acme-1', status: 'delivered' },
    ])
    for (const bad of [
      { ...callback, headers: {} },
      { ...callback, body: Buffer.from(`${body} `) },
    ])
      expect(() => createProvider().parseCallback?.(bad, 0)).to.throw(BadSignature)
  })
})

describe('docs/adding-a-provider.md', () => {
  const page = readFileSync('docs/adding-a-provider.md', 'utf8')
  const matches = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, found = '']) => found)

  it('names functions and errors that exist', () => {
    const folders = ['services/channel', 'services/channel/providers', 'infra/crypto', 'test/support/vendors']
    const sources = folders.flatMap(folder =>
      readdirSync(folder).flatMap(name => (name.endsWith('.ts') ? [readFileSync(`${folder}/${name}`, 'utf8')] : [])),
    )
    const names = [...matches(/`(\w+)\(\)`/g), ...matches(/`([A-Z]\w*(?:Fault|Outcome|Signature|Callback))`/g)]
    const isExported = (name: string): boolean =>
      sources.some(source => new RegExp(`^export (?:async )?(?:function|const|class) ${name}\\b`, 'm').test(source))
    expect(names).to.not.be.empty
    expect(names.filter(name => !isExported(name))).to.deep.equal([])
  })
})

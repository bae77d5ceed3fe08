// The simulated vendors together with the providers that call them, callbacks included. Flow tests rely on this behaviour.
import { expect } from 'chai'
import type { CallbackItem, Provider } from '../../../../services/channel/provider.ts'
import { createHttpProvider } from '../../../../services/channel/providers/http.ts'
import { createTwilioProvider } from '../../../../services/channel/providers/twilio.ts'
import { createVonageProvider } from '../../../../services/channel/providers/vonage.ts'
import { startHttpGateway } from '../../../support/vendors/http-gateway.ts'
import {
  CALLBACK_URL,
  DELIVERY_ID,
  send,
  type TestProviderDeps,
  testProviderDeps,
} from '../../../support/vendors/provider-fixtures.ts'
import { startTwilio } from '../../../support/vendors/twilio.ts'
import {
  type ReceivedRequest,
  startVendor,
  type Vendor,
  type VendorCallback,
  type VendorOptions,
} from '../../../support/vendors/vendor.ts'
import { startVonage } from '../../../support/vendors/vonage.ts'

interface VendorAndProvider {
  api: Vendor<unknown>
  provider: Provider
}

const VENDORS: Record<string, (deps: TestProviderDeps, options: VendorOptions) => Promise<VendorAndProvider>> = {
  async Twilio(deps, options) {
    const api = await startTwilio(options)
    const { account_sid, auth_token, url: base_url } = api
    const config = { account_sid, auth_token, base_url, from: '+15005550006', messaging_service_sid: null }
    return { api, provider: createTwilioProvider({ config }, deps) }
  },
  async Vonage(deps, options) {
    const api = await startVonage({ ...options, now: deps.clock.now })
    const { application_id, private_key, signature_secret, url: base_url } = api
    return {
      api,
      provider: createVonageProvider(
        { config: { application_id, private_key, signature_secret, base_url, from: 'Shop' } },
        deps,
      ),
    }
  },
  async 'an HTTP gateway'(deps, options) {
    const api = await startHttpGateway({ ...options, now: deps.clock.now, callbackUrl: () => CALLBACK_URL })
    const body = { delivery_id: '{{delivery_id}}' }
    const config = { url: api.url, method: 'POST' as const, headers: {}, body, secret: api.secret }
    return { api, provider: createHttpProvider({ config, channel: 'sms' }, deps) }
  },
}

for (const [name, start] of Object.entries(VENDORS))
  describe(`${name}, simulated`, () => {
    let deps: TestProviderDeps
    let vendor: VendorAndProvider
    let router: Vendor<never>
    let items: CallbackItem[]

    beforeEach(async () => {
      deps = testProviderDeps()
      items = []
      // Replaces our router: passes callbacks on to the provider, with the public address.
      router = await startVendor<never>({
        handleRequest: request => ({ answer: { status: passToProvider(request) } }),
        refused: () => ({ status: 500 }),
        receipt: () => null,
      })
      vendor = await start(deps, { route: url => url.replace('https://verify.example', router.url) })
    })
    afterEach(async () => {
      await vendor.api.idle()
      await Promise.all([deps.outbound.close(), vendor.api.close(), router.close()])
    })

    function passToProvider({ path, headers, body }: ReceivedRequest): number {
      const url = new URL(`https://verify.example${path}`)
      try {
        items.push(...(vendor.provider.parseCallback?.({ method: 'POST', url, headers, body }, deps.clock.now()) ?? []))
        return 204
      } catch {
        return 401
      }
    }
    const statuses = () => items.map(item => (item.kind === 'receipt' ? item.status : item.kind))

    it('accepts a message and calls back with signed receipts that the provider understands', async () => {
      vendor.api.next({ receipts: ['sent', 'delivered'] })
      const { reference } = await send(vendor.provider)
      await vendor.api.idle()
      expect(items).to.deep.equal([
        { kind: 'receipt', delivery_id: DELIVERY_ID, reference, status: 'sent' },
        { kind: 'receipt', delivery_id: DELIVERY_ID, reference, status: 'delivered' },
      ])
      expect(vendor.api.calls.map(({ status }) => status)).to.deep.equal([204, 204])
    })

    it('calls back before it answers', async () => {
      vendor.api.next({ receipts: ['delivered'], early: true })
      const { reference } = await send(vendor.provider)
      // The test does not wait for the receipt: it arrived before the answer.
      expect(items).to.deep.equal([{ kind: 'receipt', delivery_id: DELIVERY_ID, reference, status: 'delivered' }])
    })

    it('sends receipts twice and out of order', async () => {
      vendor.api.always({ receipts: ['failed', 'read', 'sent', 'sent'] })
      await send(vendor.provider)
      await vendor.api.idle()
      expect(statuses()).to.deep.equal(['failed', 'delivered', 'sent', 'sent'])
    })

    it('calls back for a message whose answer was lost', async () => {
      vendor.api.next({ fault: { kind: 'reset', when: 'taken' }, receipts: ['sent'] })
      await send(vendor.provider).catch(() => undefined)
      await vendor.api.idle()
      expect(statuses()).to.deep.equal(['sent'])
      expect(vendor.api.messages).to.have.lengthOf(1)
    })

    it('accepts no message while it refuses, is busy or broken, or closes the connection', async () => {
      const faults = [
        { kind: 'refused' },
        { kind: 'busy' },
        { kind: 'broken' },
        { kind: 'reset', when: 'unread' },
      ] as const
      vendor.api.next(...faults.map(fault => ({ fault, receipts: ['sent'] as const })))
      for (const _ of faults) await send(vendor.provider).catch(() => undefined)
      await vendor.api.idle()
      expect([vendor.api.messages, vendor.api.calls]).to.deep.equal([[], []])
      await send(vendor.provider)
      expect(vendor.api.messages).to.have.lengthOf(1)
    })

    it('answers slowly', async () => {
      vendor.api.next({ fault: { kind: 'slow', ms: 5 } })
      expect(await send(vendor.provider)).to.have.property('reference')
    })

    it('can choose a fault by the request', async () => {
      vendor.api.always(({ body }) => (body.includes('dlv_') ? { fault: { kind: 'broken' } } : {}))
      expect(await send(vendor.provider).catch(error => String(error))).to.include('it answered 500')
    })

    it('records the status of our response, and null when there was none', async () => {
      await send(vendor.provider)
      const message = vendor.api.messages[0]
      expect(await vendor.api.report(message, 'delivered')).to.equal(204)
      const forged: VendorCallback = { method: 'POST', url: CALLBACK_URL, headers: {}, body: '{}' }
      expect(await vendor.api.call(forged)).to.equal(401)
      await router.close()
      expect(await vendor.api.report(message, 'delivered')).to.equal(null)
    })
  })

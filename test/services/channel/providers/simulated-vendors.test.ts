// The simulated vendors with the providers that call them, callbacks and all: what a flow test may rely on.
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

interface Scene {
  api: Vendor<unknown>
  provider: Provider
}

const SCENES: Record<string, (deps: TestProviderDeps, options: VendorOptions) => Promise<Scene>> = {
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
    return { api, provider: createHttpProvider({ config }, deps) }
  },
}

for (const [name, stage] of Object.entries(SCENES))
  describe(`${name}, simulated`, () => {
    let deps: TestProviderDeps
    let scene: Scene
    let router: Vendor<never>
    let items: CallbackItem[]

    beforeEach(async () => {
      deps = testProviderDeps()
      items = []
      // Stands in for the router: hands the provider what came, under the public address.
      router = await startVendor<never>({
        handleRequest: request => ({ answer: { status: hearing(request) } }),
        refused: () => ({ status: 500 }),
        receipt: () => null,
      })
      scene = await stage(deps, { route: url => url.replace('https://verify.example', router.url) })
    })
    afterEach(async () => {
      await scene.api.idle()
      await Promise.all([deps.outbound.close(), scene.api.close(), router.close()])
    })

    function hearing({ path, headers, body }: ReceivedRequest): number {
      const url = new URL(`https://verify.example${path}`)
      try {
        items.push(...(scene.provider.parseCallback?.({ method: 'POST', url, headers, body }, deps.clock.now()) ?? []))
        return 204
      } catch {
        return 401
      }
    }
    const statuses = () => items.map(one => (one.kind === 'receipt' ? one.status : one.kind))

    it('takes a message and calls back, in its own words and with its own signature', async () => {
      scene.api.next({ receipts: ['sent', 'delivered'] })
      const { reference } = await send(scene.provider)
      await scene.api.idle()
      expect(items).to.deep.equal([
        { kind: 'receipt', delivery_id: DELIVERY_ID, reference, status: 'sent' },
        { kind: 'receipt', delivery_id: DELIVERY_ID, reference, status: 'delivered' },
      ])
      expect(scene.api.calls.map(({ status }) => status)).to.deep.equal([204, 204])
    })

    it('calls back before it answers', async () => {
      scene.api.next({ receipts: ['delivered'], early: true })
      const { reference } = await send(scene.provider)
      // Nothing was waited for: it was heard before there was an answer.
      expect(items).to.deep.equal([{ kind: 'receipt', delivery_id: DELIVERY_ID, reference, status: 'delivered' }])
    })

    it('doubles its receipts and mixes them up', async () => {
      scene.api.always({ receipts: ['failed', 'read', 'sent', 'sent'] })
      await send(scene.provider)
      await scene.api.idle()
      expect(statuses()).to.deep.equal(['failed', 'delivered', 'sent', 'sent'])
    })

    it('calls back for a message whose answer was lost', async () => {
      scene.api.next({ fault: { kind: 'reset', when: 'taken' }, receipts: ['sent'] })
      await send(scene.provider).catch(() => undefined)
      await scene.api.idle()
      expect(statuses()).to.deep.equal(['sent'])
      expect(scene.api.messages).to.have.lengthOf(1)
    })

    it('takes nothing while it refuses, is busy or broken, or hangs up', async () => {
      const faults = [
        { kind: 'refused' },
        { kind: 'busy' },
        { kind: 'broken' },
        { kind: 'reset', when: 'unread' },
      ] as const
      scene.api.next(...faults.map(fault => ({ fault, receipts: ['sent'] as const })))
      for (const _ of faults) await send(scene.provider).catch(() => undefined)
      await scene.api.idle()
      expect([scene.api.messages, scene.api.calls]).to.deep.equal([[], []])
      await send(scene.provider)
      expect(scene.api.messages).to.have.lengthOf(1)
    })

    it('answers slowly', async () => {
      scene.api.next({ fault: { kind: 'slow', ms: 5 } })
      expect(await send(scene.provider)).to.have.property('reference')
    })

    it('misbehaves by what it is asked', async () => {
      scene.api.always(({ body }) => (body.includes('dlv_') ? { fault: { kind: 'broken' } } : {}))
      expect(await send(scene.provider).catch(error => String(error))).to.include('it answered 500')
    })

    it('tells what we answered, and that nobody did', async () => {
      await send(scene.provider)
      const message = scene.api.messages[0]
      expect(await scene.api.report(message, 'delivered')).to.equal(204)
      const forged: VendorCallback = { method: 'POST', url: CALLBACK_URL, headers: {}, body: '{}' }
      expect(await scene.api.call(forged)).to.equal(401)
      await router.close()
      expect(await scene.api.report(message, 'delivered')).to.equal(null)
    })
  })

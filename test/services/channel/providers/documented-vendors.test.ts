// Vendors against what their documents say: requests, answers, callbacks and their signatures. One suite, a case for each vendor.
import { expect } from 'chai'
import {
  BadCallback,
  BadSignature,
  type CallbackItem,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
} from '../../../../services/channel/provider.ts'
import { PROVIDER_FACTORIES } from '../../../../services/channel/providers/factories.ts'
import { declarationOf, type ProviderType } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { DOCUMENTED_VENDORS, type VendorCase } from '../../../support/vendors/documented-vendors.ts'
import { itNamesVendorFaults } from '../../../support/vendors/fault-cases.ts'
import { callbackOf, renderedMessage, send, thrownBy, withVendor } from '../../../support/vendors/provider-fixtures.ts'
import { type ReceivedRequest, startVendor, type VendorCallback } from '../../../support/vendors/vendor.ts'

/** What our router does with a callback. */
async function receive(provider: Provider, given: VendorCallback, now: number): Promise<readonly CallbackItem[]> {
  const callback = callbackOf(given)
  await provider.prepareCallback?.(callback, now)
  return provider.parseCallback?.(callback, now) ?? []
}

async function isRefused(receiving: Promise<unknown>): Promise<void> {
  expect(await thrownBy(receiving)).to.be.instanceOf(BadSignature)
}

/** Makes a provider of the type, whose outbound calls the case may answer. */
function factoryOf({ type, wrapOutbound = same => same }: VendorCase) {
  const factories: Partial<Record<ProviderType, unknown>> = PROVIDER_FACTORIES
  const factory = factories[type] as (setup: { config: object }, deps: ProviderDeps) => Provider
  return (setup: { config: object }, deps: ProviderDeps) =>
    factory(setup, { ...deps, outbound: wrapOutbound(deps.outbound) })
}

for (const vendorCase of DOCUMENTED_VENDORS) {
  const { type, request, accepted, refusals, receipts, secrets, withoutReceipts, answerWith } = vendorCase
  describe(declarationOf(type).label, () => {
    const [refusal] = refusals
    const suite = withVendor(
      factoryOf(vendorCase),
      () =>
        startVendor<ReceivedRequest>({
          handleRequest: message => ({ message, answer: accepted.answer }),
          refused: () => refusal?.[0] ?? { status: 400 },
          receipt: () => null,
        }),
      ({ url }) => ({ ...vendorCase.config, base_url: url }) as object,
    )
    const { create: provider, vendor } = suite

    it('gets a message as it is documented, and its id is returned', async () => {
      const answer = await send(provider(), renderedMessage(vendorCase.message))
      expect(answer).to.deep.equal({ reference: accepted.reference, httpStatus: accepted.answer.status })
      const { path = '', headers = {}, body = '' } = vendor().requests.at(-1) ?? {}
      expect(path).to.equal(request.path)
      for (const [header, value] of Object.entries(request.headers))
        if (value instanceof RegExp) expect((headers as Record<string, string>)[header]).to.match(value)
        else expect((headers as Record<string, string>)[header]).to.equal(value)
      expect(JSON.parse(body.toString())).to.deep.equal(request.body)
    })

    itNamesVendorFaults({
      ...suite,
      refused: refusal?.[1] === RecipientFault ? RecipientFault : ProviderFault,
      parsesSuccess: true,
      refusals,
      declared: { type, answerWith },
      createProvider: over => provider({}, over),
      secrets: () => [...secrets],
    })

    describe('its receipts', () => {
      const now = () => suite.deps().clock.now()
      const first = () => receipts.sign(JSON.stringify(receipts.bodies[0]?.[1]), now())

      it('are understood as their documents say, each time they come', async () => {
        for (const [what, body, items] of receipts.bodies)
          for (const time of ['once', 'again']) {
            const given = receipts.sign(JSON.stringify(body), now())
            expect(await receive(provider(), given, now()), `${what}, ${time}`).to.deep.equal(items)
          }
      })

      it('are not expected without a secret to check them with', () => {
        expect(provider(withoutReceipts)).not.to.have.property('parseCallback')
      })

      it('are refused without their signature, or with that of another', async () => {
        const { headers, ...rest } = first()
        await isRefused(receive(provider(), { ...rest, headers: {}, body: '{}' }, now()))
        for (const [header, value] of Object.entries(headers)) {
          const { [header]: _, ...others } = headers
          await isRefused(receive(provider(), { ...rest, headers: others }, now()))
          await isRefused(receive(provider(), { ...rest, headers: { ...headers, [header]: `0${value}` } }, now()))
        }
      })

      if (receipts.coversBody)
        it('are refused when the body has changed', async () => {
          const { body, ...rest } = first()
          const changed = String(body).replace(/dlv_\w/, 'dlv_9')
          expect(changed).to.not.equal(body)
          await isRefused(receive(provider(), { ...rest, body: changed }, now()))
          await isRefused(receive(provider(), { ...rest, body: '' }, now()))
        })
      else
        it('are bad callbacks when they are not what is documented', async () => {
          for (const body of ['', '[]', '{"a": 1}'])
            expect(await thrownBy(receive(provider(), { ...first(), body }, now()))).to.be.instanceOf(BadCallback)
        })

      const { toleranceMs } = receipts
      if (toleranceMs !== undefined)
        it('are refused when they are too old or ahead', async () => {
          const given = first()
          const signedAt = Math.floor(now() / 1000) * 1000
          for (const ms of [toleranceMs, -toleranceMs])
            expect(await receive(provider(), given, signedAt + ms)).to.have.lengthOf(1)
          for (const ms of [toleranceMs + 1, -toleranceMs - 1])
            await isRefused(receive(provider(), given, signedAt + ms))
        })
    })
  })
}

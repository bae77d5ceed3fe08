// The faults that every provider that calls its vendor over HTTP must tell apart: one suite, run for each provider.
import { expect } from 'chai'
import { createOutbound } from '../../../infra/outbound/guarded-outbound.ts'
import {
  Fault,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  type RecipientFault,
  UnknownOutcome,
} from '../../../services/channel/provider.ts'
import { eventually } from '../eventually.ts'
import { CODE, RECIPIENT, send, type TestProviderDeps, thrownBy } from './provider-fixtures.ts'
import type { Vendor, Fault as VendorFault } from './vendor.ts'

export interface FaultCases {
  vendor(): Vendor<unknown>
  deps(): TestProviderDeps
  createProvider(deps: ProviderDeps): Provider
  /** Parts of the config that must not be in an error. */
  secrets(): string[]
  /** The error that is expected when the vendor refuses the recipient. */
  refused: typeof RecipientFault | typeof ProviderFault
  /** Whether the provider parses a 2xx answer, so that one that cannot be parsed is an unknown outcome. */
  parsesSuccess: boolean
}

export function itNamesVendorFaults({
  vendor,
  deps,
  createProvider,
  secrets,
  refused,
  parsesSuccess,
}: FaultCases): void {
  const sendWithFault = async (fault: VendorFault): Promise<Error> => {
    vendor().next({ fault })
    return thrownBy(send(createProvider(deps())))
  }

  describe('when something goes wrong', () => {
    it("tells the recipient's fault from the provider's", async () => {
      expect(await sendWithFault({ kind: 'refused' })).to.be.instanceOf(refused)
    })

    it("keeps the vendor's status and words beside its error, and out of the error's message", async () => {
      const fault = await sendWithFault({ kind: 'refused' })
      expect(fault).to.be.instanceOf(Fault)
      const { answer, message } = fault as Fault
      expect(answer?.httpStatus).to.be.within(200, 499)
      expect(answer?.vendorText).to.be.a('string').and.have.length.greaterThan(5)
      if (answer?.vendorText !== answer?.vendorCode) expect(message).to.not.include(answer?.vendorText)
    })

    it('keeps the text of an answer that is a web page', async () => {
      const body = '<html><style>p{}</style><p>The gateway<br>is <b>tired</b></p></html>'
      const fault = (await sendWithFault({ kind: 'answers', answer: { status: 502, body } })) as Fault
      expect(fault.answer).to.include({ httpStatus: 502, vendorCode: null })
      expect(fault.answer?.vendorText?.replace(/\s+/g, ' ')).to.equal('The gateway is tired')
    })

    it('has no answer where the vendor gave none', async () => {
      expect(((await sendWithFault({ kind: 'reset', when: 'taken' })) as Fault).answer).to.equal(null)
    })

    for (const [retryAfter, ms] of [
      ['17', 17_000],
      ['0', 0],
      ['999999999', 999_999_999_000],
      ['soon', null],
    ] as const)
      it(`takes 429 with "Retry-After: ${retryAfter}" for the provider's fault, with a pause of ${ms} ms`, async () => {
        const fault = await sendWithFault({ kind: 'busy', retryAfter })
        expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('retryAfterMs', ms)
      })

    it("takes 429 with a date in Retry-After for the provider's fault, with a pause until then", async () => {
      const retryAfter = new Date(deps().clock.now() + 90_000).toUTCString()
      expect(await sendWithFault({ kind: 'busy', retryAfter })).to.have.property('retryAfterMs', 90_000)
    })

    for (const status of [500, 502, 503])
      it(`takes ${status} for the provider's fault`, async () => {
        expect(await sendWithFault({ kind: 'broken', status }))
          .to.be.instanceOf(ProviderFault)
          .and.to.have.property('retryAfterMs', null)
      })

    it('takes the 504 of a gateway in between for an unknown outcome', async () => {
      expect(await sendWithFault({ kind: 'broken', status: 504 })).to.be.instanceOf(UnknownOutcome)
    })

    it('does not follow a redirect', async () => {
      expect(await sendWithFault({ kind: 'broken', status: 307 })).to.be.instanceOf(ProviderFault)
    })

    for (const when of ['unread', 'taken'] as const)
      it(`takes a connection that was cut for an unknown outcome: request ${when}`, async () => {
        expect(await sendWithFault({ kind: 'reset', when })).to.be.instanceOf(UnknownOutcome)
      })

    it('takes a call that was aborted after it was sent for an unknown outcome', async () => {
      vendor().next({ fault: { kind: 'hang' } })
      const aborting = new AbortController()
      const accepted = vendor().messages.length
      const sending = thrownBy(send(createProvider(deps()), undefined, aborting.signal))
      await eventually(() => expect(vendor().messages).to.have.lengthOf(accepted + 1))
      aborting.abort()
      expect(await sending).to.be.instanceOf(UnknownOutcome)
    })

    it('waits for a slow answer', async () => {
      vendor().next({ fault: { kind: 'hang' } })
      const accepted = vendor().messages.length
      const sending = send(createProvider(deps()))
      await eventually(() => expect(vendor().messages).to.have.lengthOf(accepted + 1))
      vendor().release()
      expect(await sending).to.have.property('reference')
    })

    for (const [name, body] of Object.entries(GARBAGE))
      it(`takes a 2xx answer that is ${name} for ${parsesSuccess ? 'an unknown outcome' : 'success'}`, async () => {
        vendor().next({ fault: { kind: 'garbage', body } })
        const outcome = send(createProvider(deps()))
        if (parsesSuccess) expect(await thrownBy(outcome)).to.be.instanceOf(UnknownOutcome)
        else expect(await outcome).to.include({ reference: null })
      })

    it("takes a call that was certainly not sent for the provider's fault", async () => {
      const requests = vendor().requests.length
      const aborted = AbortSignal.abort()
      expect(await thrownBy(send(createProvider(deps()), undefined, aborted))).to.be.instanceOf(ProviderFault)
      const outbound = createOutbound({ privateTargets: [] })
      expect(await thrownBy(send(createProvider({ ...deps(), outbound })))).to.be.instanceOf(ProviderFault)
      await outbound.close()
      expect(vendor().requests).to.have.lengthOf(requests)
    })

    it('throws errors without the recipient, the code or a secret', async () => {
      const faults: VendorFault[] = [{ kind: 'refused' }, { kind: 'broken' }, { kind: 'reset', when: 'taken' }]
      for (const fault of faults) {
        const { message, stack, cause } = await sendWithFault(fault)
        const text = [message, stack, cause instanceof Error ? cause.stack : cause].join('\n')
        for (const secret of [RECIPIENT.slice(1), CODE, ...secrets()]) expect(text).not.to.include(secret)
      }
    })
  })
}

const GARBAGE = {
  'a web page': '<html>It works!</html>',
  empty: '',
  'JSON of another kind': '[1, null]',
  'JSON without an id': '{"sid": null, "message_uuid": 7}',
  'cut off': '{"sid": "SM0123", "message_uuid": "aa',
  endless: 'x'.repeat(200_000),
}

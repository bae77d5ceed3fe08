// The faults that every provider that calls its vendor over HTTP must tell apart: one suite, run for each provider.
import { expect } from 'chai'
import { createOutbound } from '../../../infra/outbound/guarded-outbound.ts'
import {
  DestinationFault,
  type Fault,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
  UnsubscribedFault,
} from '../../../services/channel/provider.ts'
import { declarationOf, type ProviderType } from '../../../services/domain/tenancy/provider-types/list.ts'
import { eventually } from '../eventually.ts'
import { CODE, RECIPIENT, send, type TestProviderDeps, thrownBy } from './provider-fixtures.ts'
import type { Answer, Vendor, Fault as VendorFault } from './vendor.ts'

/** An answer of the vendor, the fault that it is, and what is logged of it. */
export type Refusal = readonly [Answer, new (...args: never[]) => Fault, message: string]

interface FaultCases {
  vendor(): Vendor<unknown>
  deps(): TestProviderDeps
  createProvider(deps: ProviderDeps): Provider
  /** Parts of the config that must not be in an error. */
  secrets(): string[]
  /** The error that is expected when the vendor refuses the recipient. */
  refused: typeof RecipientFault | typeof ProviderFault
  /** Whether the provider parses a 2xx answer, so that one that cannot be parsed is an unknown outcome. */
  parsesSuccess: boolean
  refusals?: readonly Refusal[]
  /** The answer with an error code, where the declaration of the type lists codes with whose fault each is. */
  declared?: { type: ProviderType; answerWith(code: string): Answer }
}

const DECLARED = { recipient: RecipientFault, unsubscribed: UnsubscribedFault, destination: DestinationFault } as const

export function itNamesVendorFaults({
  vendor,
  deps,
  createProvider,
  secrets,
  refused,
  parsesSuccess,
  refusals = [],
  declared,
}: FaultCases): void {
  const sendWithFault = async (fault: VendorFault): Promise<Error> => {
    vendor().next({ fault })
    return thrownBy(send(createProvider(deps())))
  }

  for (const [answer, kind, message] of refusals)
    it(`throws a ${kind.name}: ${message}`, async () => {
      const fault = (await sendWithFault({ kind: 'answers', answer })) as Fault
      expect([fault.constructor, fault.message], JSON.stringify(answer.body)).to.deep.equal([kind, message])
      expect(fault.answer?.httpStatus).to.equal(answer.status)
    })

  if (declared)
    it('throws the fault that its declaration names, for every error code in it', async () => {
      const { errors = {} } = declarationOf(declared.type)
      for (const [whose, kind] of Object.entries(DECLARED))
        for (const code of Object.keys(errors[whose as keyof typeof DECLARED] ?? {})) {
          const fault = await sendWithFault({ kind: 'answers', answer: declared.answerWith(code) })
          expect(fault.constructor, `${whose} ${code}`).to.equal(kind)
          expect(fault.message).to.include(code)
        }
    })

  describe('when something goes wrong', () => {
    it("tells whose fault it is, and keeps the vendor's status and words out of the error's message", async () => {
      const fault = await sendWithFault({ kind: 'refused' })
      expect(fault).to.be.instanceOf(refused)
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

    it("takes 429 for the provider's fault, with the pause that it asks for", async () => {
      const inNinetySeconds = new Date(deps().clock.now() + 90_000).toUTCString()
      for (const [retryAfter, ms] of [
        ['17', 17_000],
        [inNinetySeconds, 90_000],
        ['soon', null],
      ] as const)
        expect(await sendWithFault({ kind: 'busy', retryAfter }), retryAfter)
          .to.be.instanceOf(ProviderFault)
          .and.to.have.property('retryAfterMs', ms)
    })

    it("takes 5xx and a redirect, which it does not follow, for the provider's fault", async () => {
      for (const status of [500, 502, 503, 307])
        expect(await sendWithFault({ kind: 'broken', status }), String(status))
          .to.be.instanceOf(ProviderFault)
          .and.to.have.property('retryAfterMs', null)
    })

    it('takes the 504 of a gateway in between for an unknown outcome', async () => {
      expect(await sendWithFault({ kind: 'broken', status: 504 })).to.be.instanceOf(UnknownOutcome)
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

    it(`takes a 2xx answer that is garbage for ${parsesSuccess ? 'an unknown outcome' : 'success'}`, async () => {
      for (const body of GARBAGE) {
        vendor().next({ fault: { kind: 'garbage', body } })
        const outcome = send(createProvider(deps()))
        if (parsesSuccess) expect(await thrownBy(outcome), body).to.be.instanceOf(UnknownOutcome)
        else expect(await outcome, body).to.include({ reference: null })
      }
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

const GARBAGE = [
  '<html>It works!</html>',
  '',
  '[1, null]',
  '{"sid": null, "message_uuid": 7}',
  '{"sid": "SM0123", "message_uuid": "aa',
  'x'.repeat(200_000),
]

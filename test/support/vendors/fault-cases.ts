// What every provider that calls its vendor over HTTP makes of trouble: told once, and held against each.
import { expect } from 'chai'
import { createOutbound } from '../../../infra/outbound/guarded-outbound.ts'
import {
  type Provider,
  type ProviderDeps,
  ProviderFault,
  type RecipientFault,
  UnknownOutcome,
} from '../../../services/channel/provider.ts'
import { eventually } from '../eventually.ts'
import { CODE, RECIPIENT, send, type TestProviderDeps, thrownBy } from './provider-fixtures.ts'
import type { Fault, Vendor } from './vendor.ts'

export interface FaultCases {
  vendor(): Vendor<unknown>
  bench(): TestProviderDeps
  make(tools: ProviderDeps): Provider
  /** Of the config: none of it may be in an error. */
  secrets(): string[]
  /** What the vendor's word for a recipient's fault is taken for. */
  refused: typeof RecipientFault | typeof ProviderFault
  /** Whether a success that cannot be read leaves the outcome open. */
  parsesSuccess: boolean
}

export function itNamesVendorFaults({ vendor, bench, make, secrets, refused, parsesSuccess }: FaultCases): void {
  const sendWithFault = async (fault: Fault, tools: ProviderDeps = bench()): Promise<Error> => {
    vendor().next({ fault })
    return thrownBy(send(make(tools)))
  }

  describe('when something goes wrong', () => {
    it("tells the recipient's fault from others", async () => {
      expect(await sendWithFault({ kind: 'refused' })).to.be.instanceOf(refused)
    })

    for (const [retryAfter, ms] of [
      ['17', 17_000],
      ['0', 0],
      ['999999999', 3_600_000],
      ['soon', null],
    ] as const)
      it(`is the provider's fault to be busy, for as long as it says: ${retryAfter}`, async () => {
        const fault = await sendWithFault({ kind: 'busy', retryAfter })
        expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('retryAfterMs', ms)
      })

    it("is the provider's fault to be busy, until a date", async () => {
      const retryAfter = new Date(bench().clock.now() + 90_000).toUTCString()
      expect(await sendWithFault({ kind: 'busy', retryAfter })).to.have.property('retryAfterMs', 90_000)
    })

    for (const status of [500, 502, 503])
      it(`is the provider's fault to answer ${status}`, async () => {
        expect(await sendWithFault({ kind: 'broken', status }))
          .to.be.instanceOf(ProviderFault)
          .and.to.have.property('retryAfterMs', null)
      })

    it('is unknown what became of a call that a gateway in between gave up on', async () => {
      expect(await sendWithFault({ kind: 'broken', status: 504 })).to.be.instanceOf(UnknownOutcome)
    })

    it('does not go where it is redirected to', async () => {
      expect(await sendWithFault({ kind: 'broken', status: 307 })).to.be.instanceOf(ProviderFault)
    })

    for (const when of ['unread', 'taken'] as const)
      it(`is unknown what became of a call that was cut off: ${when}`, async () => {
        expect(await sendWithFault({ kind: 'reset', when })).to.be.instanceOf(UnknownOutcome)
      })

    it('is unknown what became of a call that was given up', async () => {
      vendor().next({ fault: { kind: 'hang' } })
      const aborting = new AbortController()
      const taken = vendor().messages.length
      const sending = thrownBy(send(make(bench()), undefined, aborting.signal))
      await eventually(() => expect(vendor().messages).to.have.lengthOf(taken + 1))
      aborting.abort()
      expect(await sending).to.be.instanceOf(UnknownOutcome)
    })

    it('waits for an answer that is slow', async () => {
      vendor().next({ fault: { kind: 'hang' } })
      const taken = vendor().messages.length
      const sending = send(make(bench()))
      await eventually(() => expect(vendor().messages).to.have.lengthOf(taken + 1))
      vendor().release()
      expect(await sending).to.have.property('reference')
    })

    for (const [name, body] of Object.entries(GARBAGE))
      it(`makes the best of a success that is ${name}`, async () => {
        vendor().next({ fault: { kind: 'garbage', body } })
        const outcome = send(make(bench()))
        if (parsesSuccess) expect(await thrownBy(outcome)).to.be.instanceOf(UnknownOutcome)
        else expect(await outcome).to.deep.equal({ reference: null })
      })

    it("is the provider's fault not to be reached, and nothing was sent", async () => {
      const seen = vendor().seen.length
      const aborted = AbortSignal.abort()
      expect(await thrownBy(send(make(bench()), undefined, aborted))).to.be.instanceOf(ProviderFault)
      const outbound = createOutbound({ privateTargets: [] })
      expect(await thrownBy(send(make({ ...bench(), outbound })))).to.be.instanceOf(ProviderFault)
      await outbound.close()
      expect(vendor().seen).to.have.lengthOf(seen)
    })

    it('says nothing of the recipient, the code or a secret', async () => {
      const faults: Fault[] = [{ kind: 'refused' }, { kind: 'broken' }, { kind: 'reset', when: 'taken' }]
      for (const fault of faults) {
        const { message, stack, cause } = await sendWithFault(fault)
        const said = [message, stack, cause instanceof Error ? cause.stack : cause].join('\n')
        for (const secret of [RECIPIENT.slice(1), CODE, ...secrets()]) expect(said).not.to.include(secret)
      }
    })
  })
}

const GARBAGE = {
  'a web page': '<html>It works!</html>',
  empty: '',
  'JSON of another kind': '[1, null]',
  'JSON with the name missing': '{"sid": null, "message_uuid": 7}',
  'cut off': '{"sid": "SM0123", "message_uuid": "aa',
  endless: 'x'.repeat(200_000),
}

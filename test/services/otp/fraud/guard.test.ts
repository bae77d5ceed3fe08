// The fraud guard in two processes on one store, against a fraudster who spreads sends over both.
import { expect } from 'chai'
import { newId } from '../../../../infra/ids.ts'
import type { Identity, OtpAnswer } from '../../../../machines/calls.ts'
import type { Channel } from '../../../../machines/channels.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { forgetNumber } from '../../../../services/domain/fraud/numbers.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { addApp, SERVER as by, sendCall, verifyOtp } from '../../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const PLENTY = [{ max: 100_000, seconds: 60 }]
const MINUTE = 60_000

onEmbeddedStore('the fraud guard of several processes', fresh => {
  const keyring = testKeyring()
  const byDevice: Identity = { ...by, key_id: 'key_device', kind: 'publishable' }
  let store: CountersignStore
  let actors: TestActor[]
  beforeEach(async () => {
    store = await fresh()
    const limits = { app_without_client_ip: PLENTY, recipient: PLENTY, recipient_messages: PLENTY }
    await addApp(store, { limits, fraud_guard: { mode: 'on' } })
    actors = [await startOtpActor(store, keyring), await startOtpActor(store, keyring)]
  })
  afterEach(() => Promise.all(actors.map(actor => actor.close())))

  const advance = async (ms: number): Promise<void> => {
    for (const { clock } of actors) await clock.advance(ms)
  }
  const at = (nth: number): TestActor => actors[nth % actors.length] as TestActor
  const send = ({ ask, clock }: TestActor, number: string, key = by): Promise<OtpAnswer> =>
    ask(sendCall(keyring, number, { by: key, at: clock.now() }))
  const resultOf = (answer: OtpAnswer): string => (answer.kind === 'refused' ? (answer.scope ?? answer.error) : 'sent')
  async function verify(actor: TestActor, answer: OtpAnswer, key = by): Promise<void> {
    if (answer.kind !== 'verification') throw new Error(`not sent: ${JSON.stringify(answer)}`)
    const { otp_id } = answer.verification
    expect(await verifyOtp(actor, { store, keyring }, otp_id, key)).to.include({ kind: 'verified', matched: true })
  }
  const numberInBlock = (nth: number): string => `+44740012${String(nth * 101).padStart(4, '0')}`
  let again = 0
  /** Waits until a send gets this result in each process. It sends to known numbers again, which adds no neighbours. */
  const expectEverywhere = (result: string): Promise<void> =>
    eventually(async () => {
      await advance(1_000)
      for (const actor of actors) {
        again = (again + 1) % 24
        expect(resultOf(await send(actor, numberInBlock(again)))).to.equal(result)
      }
    })

  const pumpBlock = async (): Promise<void> => {
    for (let nth = 0; nth < 24; nth += 1) await send(at(nth), numberInBlock(nth))
    await advance(3 * MINUTE)
    await expectEverywhere('fraud_guard')
  }

  it('refuses a resend by every channel that can cost money', async () => {
    const [first, ...others] = Array.from({ length: 24 }, (_, nth) => numberInBlock(nth))
    const sent = await send(at(0), String(first))
    for (const [nth, number] of others.entries()) await send(at(nth), number)
    await advance(3 * MINUTE)
    await expectEverywhere('fraud_guard')
    const otp_id = sent.kind === 'verification' ? sent.verification.otp_id : ''
    const resend = (channel: Channel) => at(0).ask({ type: 'otp.resend', by, otp_id, channel })
    for (const channel of ['sms', 'whatsapp', 'telegram'] as const)
      expect(resultOf(await resend(channel)), channel).to.equal('fraud_guard')
  })

  it('counts no message with a code of its caller, and refuses one to a number that is pumped', async () => {
    const sendMessage = ({ ask, clock }: TestActor, number: string): Promise<OtpAnswer> =>
      ask({
        ...sendCall(keyring, number, { otp_id: newId('msg', clock.now()) }),
        sealed_code: keyring.seal('482913', inFlight.code),
      })
    for (let nth = 0; nth < 48; nth += 1)
      expect(resultOf(await sendMessage(at(nth), numberInBlock(nth % 24)))).to.equal('sent')
    await advance(3 * MINUTE)
    expect(await store.docs('fraud_tallies').find({}, { sort: { _id: 1 }, limit: 1 })).to.deep.equal([])
    await pumpBlock()
    expect(resultOf(await sendMessage(at(0), numberInBlock(1)))).to.equal('fraud_guard')
  })

  it('does not count a number twice that is verified again and again', async () => {
    for (let nth = 0; nth < 24; nth += 1) await send(at(nth), numberInBlock(nth))
    for (let nth = 0; nth < 30; nth += 1) await verify(at(nth), await send(at(nth), numberInBlock(90 + (nth % 2))))
    await advance(3 * MINUTE)
    await expectEverywhere('fraud_guard')
  })

  it('counts a number that devices verify in several processes once an hour', async () => {
    const number = numberInBlock(1)
    for (let nth = 0; nth < 4; nth += 1) await verify(at(nth + 1), await send(at(nth), number, byDevice), byDevice)
    const counted = () =>
      eventually(async () => {
        await advance(5_000)
        const doc = (await store.docs('fraud_tallies').get(['app_1:test:publishable:all numbers']))
          .values()
          .next().value
        const sum = (what: 'sent' | 'verified') => doc?.state.days.reduce((total, day) => total + day[what], 0)
        return { sent: sum('sent'), verified: sum('verified') }
      })
    await eventually(async () => expect(await counted()).to.deep.equal({ sent: 4, verified: 1 }))
  })

  it('holds what devices send through all processes to the allowance of the app', async () => {
    await Promise.all(actors.map(actor => actor.close()))
    const app_publishable = [{ max: 12, seconds: 60 }]
    const limits = { app_without_client_ip: PLENTY, recipient: PLENTY, recipient_messages: PLENTY, app_publishable }
    await store.docs('apps').modify({ _id: 'app_1' }, { $set: { settings: { limits, fraud_guard: { mode: 'on' } } } })
    actors = await Promise.all([1, 2, 3, 4].map(() => startOtpActor(store, keyring)))
    let sent = 0
    for (let nth = 0; nth < 60; nth += 1) {
      if (resultOf(await send(at(nth), `+4479${10 + Math.floor(nth / 2)}${123_456 + nth}`, byDevice)) === 'sent')
        sent += 1
      await advance(5_000)
    }
    expect(sent, 'the allowance and the pace, and what a process does not know yet').to.be.within(24, 24 + 5 + 8)
  })

  it('lets numbers pass in every process when their neighbours were verified in another', async () => {
    const answers = []
    for (let nth = 0; nth < 24; nth += 1) answers.push(await send(at(nth), numberInBlock(nth)))
    await advance(3 * MINUTE)
    for (const [nth, answer] of answers.slice(0, 12).entries()) await verify(at(nth + 1), answer)
    await expectEverywhere('sent')
  })

  const allNumbers = async () =>
    (await store.docs('fraud_blocks').find({}, { sort: { _id: 1 }, limit: 99 })).flatMap(({ state }) => state.numbers)

  it('stores no complete number, nor anything in a block by which its numbers could be matched with verifications, or guessed', async () => {
    await pumpBlock()
    const kept = await eventually(async () => {
      const all = await Promise.all([
        store.docs('fraud_tallies').find({}, { sort: { _id: 1 }, limit: 99 }),
        store.docs('fraud_blocks').find({}, { sort: { _id: 1 }, limit: 99 }),
        store.docs('fraud_decisions').find({}, { sort: { _id: 1 }, limit: 99 }),
      ])
      expect(all.map(docs => docs.length > 0)).to.deep.equal([true, true, true])
      return all
    })
    expect(JSON.stringify(kept)).to.include('+447400').and.not.to.include('+4474001')
    const numbers = await eventually(async () => {
      await advance(1_000)
      const stored = await allNumbers()
      expect(stored).to.have.length(24)
      return stored
    })
    const otps = JSON.stringify(await store.docs('otps').find({}, { sort: { _id: 1 }, limit: 99 }))
    for (const { tag, hundred } of numbers) {
      expect(otps, 'a part of the index of the recipient').to.not.include(tag).and.not.to.include(hundred)
      expect(hundred, 'digits of the number').to.not.match(/^\d*$/)
    }
    expect(new Set(numbers.map(({ hundred }) => hundred))).to.have.property('size', 24)
  })

  it('counts a block anew under a new data key, and an erasure finds it under both keys', async () => {
    await pumpBlock()
    const elapsed = (actors[0]?.clock.now() ?? 0) - testClock().now()
    await Promise.all(actors.map(actor => actor.close()))
    actors = [await startOtpActor(store, testKeyring(2, 1)), await startOtpActor(store, testKeyring(2, 1))]
    await advance(elapsed)
    for (let nth = 0; nth < 24; nth += 1) expect(resultOf(await send(at(nth), numberInBlock(nth)))).to.equal('sent')
    await advance(3 * MINUTE)
    await expectEverywhere('fraud_guard')

    const stored = (await allNumbers()).length
    const rotating = testKeyring(1, 2)
    expect(await forgetNumber(store, rotating, by, numberInBlock(3)), 'under both keys').to.equal(2)
    expect(await allNumbers()).to.have.length(stored - 2)
  })
})

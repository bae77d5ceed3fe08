import { expect } from 'chai'
import { createExcess } from '../../../../services/channel/admission/excess.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { type PromiseState, promiseState } from '../../../support/promise-state.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

onEmbeddedStore('messages of an app whose providers are all busy', fresh => {
  let clock: TestClock
  let store: CountersignStore
  let isBusy: boolean
  let excess: ReturnType<typeof createExcess>
  let marked: string[]
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
    isBusy = true
    marked = []
    const log = createCapturedLog().log
    excess = createExcess({ channel: 'sms', otps: store.docs('otps'), clock, log, onHeld: app => marked.push(app) })
  })
  afterEach(() => excess.close())

  const owe = (more: Partial<OtpDoc> = {}) =>
    store.docs('otps').insert([
      {
        _id: 'otp_b',
        rev: 1,
        app_id: 'app_b',
        mode: 'live',
        owed_channel: 'sms',
        owed_at: clock.now(),
        ...more,
      } as OtpDoc,
    ])
  /** Asks, and returns once the store has been asked what waits. */
  async function hold(): Promise<PromiseState> {
    const state = promiseState(excess.hold('app_a', () => isBusy, clock.now()))
    for (let turns = 0; turns < 10; turns += 1) await clock.advance(0)
    return state
  }

  it('are held while no other app has a delivery in the channel, and go on one by one when a provider is free', async () => {
    await owe({ _id: 'otp_a', app_id: 'app_a' })
    await owe({ _id: 'otp_w', owed_channel: 'whatsapp' })
    await owe({ _id: 'otp_later', owed_at: clock.now() + 60_000 })
    const [first, second] = [await hold(), await hold()]
    await clock.advance(5_000)
    expect([first.state, second.state]).to.deep.equal(['pending', 'pending'])
    expect(marked).to.include('app_a')
    isBusy = false
    excess.wake()
    isBusy = true
    excess.wake()
    await clock.advance(0)
    expect([first.value, second.state]).to.deep.equal([true, 'pending'])
  })

  for (const [what, more] of [
    ['of another app', {}],
    ['of their own app in test mode', { app_id: 'app_a', mode: 'test' }],
  ] as const)
    it(`are given back within two seconds when a delivery ${what} waits, and not held again while it does`, async () => {
      const one = await hold()
      await owe(more)
      await eventually(async () => {
        await clock.advance(100)
        expect(one.state).to.equal('resolved')
      })
      expect(one.value).to.equal(false)
      await clock.advance(2_000)
      expect(await excess.hold('app_a', () => true, clock.now())).to.equal(false)
      await store.docs('otps').remove({ _id: 'otp_b' }, 1)
      await clock.advance(2_000)
      const again = await hold()
      expect(again.state).to.equal('pending')
    })

  it('are given back when the process stops or is paused', async () => {
    const one = await hold()
    excess.close()
    await clock.advance(0)
    expect([one.value, await excess.hold('app_a', () => true, clock.now())]).to.deep.equal([false, false])
  })
})

// Parallel guesses for one recipient, each on a verification of its own: only as many as the limit allows are compared.
import { expect } from 'chai'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { OtpAnswer } from '../../../machines/calls.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../../services/otp/verify.ts'
import { wrongCode } from '../../support/flow.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../support/tenancy.ts'

const MAX_WRONG = 3

eachStore('guesses for one recipient', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  let actor: TestActor
  /** Runs before the next write of a verification, so that this write loses its race. */
  let overtake: (() => Promise<unknown>) | null
  /** The store call that fails after a verification was written. */
  let broken: string | null
  beforeEach(async () => {
    store = await fresh()
    const limits = { recipient_verify: [{ max: MAX_WRONG, seconds: 3600 }], recipient: [{ max: 100, seconds: 600 }] }
    const app = { _id: 'app_1', company_id: 'cmp_1', name: 'Shop', settings: { limits }, created_at: 0, rev: 0 }
    await store.docs('apps').insert([app])
    overtake = null
    broken = null
    let changed = false
    const raced = interceptWrites(store, {
      after(call) {
        changed ||= call === 'otps.change'
      },
      async before(call) {
        if (changed && call === broken) throw new Unavailable('the store is away')
        if (call !== 'otps.change' || overtake === null) return
        const once = overtake
        overtake = null
        await once()
      },
    })
    actor = await startOtpActor(raced, keyring)
  })
  afterEach(() => actor.close())

  const send = async (): Promise<{ otp_id: string; code: string }> => {
    const { otp_id } = await actor.send({ company: 'cmp_1', app: 'app_1', recipient: '+14155550123' })
    const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
    return { otp_id, code: doc ? codeOf(keyring, doc) : '' }
  }
  const verify = (otp_id: string, code: string): Promise<OtpAnswer> =>
    actor.ask({
      type: 'otp.verify',
      by: { company_id: 'cmp_1', app_id: 'app_1', mode: 'test', key_id: 'key_server', kind: 'server' },
      otp_id,
      sealed_code: keyring.seal(code, inFlight.code),
    })
  const resultOf = (answer: OtpAnswer): string =>
    answer.kind === 'verified'
      ? answer.status
      : answer.kind === 'refused'
        ? (answer.scope ?? answer.error)
        : answer.kind

  it('are refused beyond the limit, whether right or wrong', async () => {
    const started = []
    for (let nth = 0; nth < 2 * MAX_WRONG; nth += 1) started.push(await send())
    const wrong = started.map(({ otp_id, code }) => verify(otp_id, wrongCode(code)))
    // Guesses made at the same time are counted in any order.
    expect((await Promise.all(wrong)).map(resultOf).sort()).to.deep.equal([
      ...Array(MAX_WRONG).fill('pending'),
      ...Array(MAX_WRONG).fill('recipient_verify'),
    ])
    const right = started.map(({ otp_id, code }) => verify(otp_id, code))
    expect((await Promise.all(right)).map(resultOf)).to.deep.equal(Array(2 * MAX_WRONG).fill('recipient_verify'))
  })

  it('are answered after a lost race, even the last one that the limit allows', async () => {
    for (let nth = 1; nth < MAX_WRONG; nth += 1) {
      const { otp_id, code } = await send()
      await verify(otp_id, wrongCode(code))
    }
    const { otp_id, code } = await send()
    overtake = () => store.docs('otps').modify({ _id: otp_id }, { $inc: { rev: 1 } })
    expect(resultOf(await verify(otp_id, wrongCode(code)))).to.equal('pending')
    expect(overtake).to.equal(null)
    expect(resultOf(await verify(otp_id, code))).to.equal('recipient_verify')
  })

  it('are not counted when they are right', async () => {
    for (let nth = 0; nth <= MAX_WRONG; nth += 1) {
      const { otp_id, code } = await send()
      expect(resultOf(await verify(otp_id, code))).to.equal('approved')
    }
  })

  it('are answered when they are right, even if their count cannot be given back', async () => {
    const { otp_id, code } = await send()
    broken = 'counters.update'
    expect(resultOf(await verify(otp_id, code))).to.equal('approved')
  })
})

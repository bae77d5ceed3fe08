// Guesses at one recipient's codes that come all at once, on verifications of their own: how many are compared.
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
  /** What comes before the next change of a verification. */
  let overtake: (() => Promise<unknown>) | null
  /** What cannot be written once a verification was changed. */
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
  const told = (answer: OtpAnswer): string =>
    answer.kind === 'verified'
      ? answer.status
      : answer.kind === 'refused'
        ? (answer.scope ?? answer.error)
        : answer.kind

  it('past the limit are refused alike, right or wrong', async () => {
    const begun = []
    for (let nth = 0; nth < 2 * MAX_WRONG; nth += 1) begun.push(await send())
    const guesses = begun.map(({ otp_id, code }, nth) => verify(otp_id, nth < MAX_WRONG ? wrongCode(code) : code))
    expect((await Promise.all(guesses)).map(told)).to.deep.equal([
      ...Array(MAX_WRONG).fill('pending'),
      ...Array(MAX_WRONG).fill('recipient_verify'),
    ])
  })

  it('that lose a race and are made again are answered, also the last that is allowed', async () => {
    for (let nth = 1; nth < MAX_WRONG; nth += 1) {
      const { otp_id, code } = await send()
      await verify(otp_id, wrongCode(code))
    }
    const { otp_id, code } = await send()
    overtake = () => store.docs('otps').modify({ _id: otp_id }, { $inc: { rev: 1 } })
    expect(told(await verify(otp_id, wrongCode(code)))).to.equal('pending')
    expect(overtake).to.equal(null)
    expect(told(await verify(otp_id, code))).to.equal('recipient_verify')
  })

  it('that are right count for nothing', async () => {
    for (let nth = 0; nth <= MAX_WRONG; nth += 1) {
      const { otp_id, code } = await send()
      expect(told(await verify(otp_id, code))).to.equal('approved')
    }
  })

  it('that are right are answered, though what they counted for cannot be given back', async () => {
    const { otp_id, code } = await send()
    broken = 'counters.change'
    expect(told(await verify(otp_id, code))).to.equal('approved')
  })
})

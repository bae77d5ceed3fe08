// Guesses for one recipient: only as many as the limit allows are compared, and as many first guesses of verifications besides.
import { expect } from 'chai'
import fc from 'fast-check'
import { Unavailable } from '../../../../infra/unavailable.ts'
import type { OtpAnswer } from '../../../../machines/calls.ts'
import type { LimitRule } from '../../../../machines/settings.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../../../services/domain/verifications/message-content.ts'
import { wrongCode } from '../../../support/flow.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { addApp, SERVER, storedOtp } from '../../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../../support/tenancy.ts'

const MAX_WRONG = 3
const OTHER_PROCESSES = 3
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

onEmbeddedStore('guesses for one recipient', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  let actor: TestActor
  /** Processes beside it, on the same store. */
  let others: TestActor[]
  /** Runs before the next write of a verification, so that this write loses its race. */
  let overtake: (() => Promise<unknown>) | null
  /** The store call that fails after a verification was written. */
  let broken: string | null
  beforeEach(async () => {
    store = await fresh()
    const limits = { recipient_verify: [{ max: MAX_WRONG, seconds: 3600 }], recipient: [{ max: 100, seconds: 600 }] }
    await addApp(store, { limits })
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
    others = []
    for (let nth = 0; nth < OTHER_PROCESSES; nth += 1) others.push(await startOtpActor(store, keyring))
  })
  afterEach(() => Promise.all([actor, ...others].map(one => one.close())))

  const send = async (recipient = '+14155550123'): Promise<{ otp_id: string; code: string }> => {
    const { otp_id } = await actor.send({ company: 'cmp_1', app: 'app_1', recipient })
    return { otp_id, code: codeOf(keyring, (await storedOtp(store, otp_id)).context) }
  }
  const verify = (otp_id: string, code: string, by = actor): Promise<OtpAnswer> =>
    by.ask({ type: 'otp.verify', by: SERVER, otp_id, sealed_code: keyring.seal(code, inFlight.code) })
  const resultOf = (answer: OtpAnswer): string =>
    answer.kind === 'verified'
      ? answer.status
      : answer.kind === 'refused'
        ? (answer.scope ?? answer.error)
        : answer.kind

  const sendMany = async (count: number) => {
    const started = []
    for (let nth = 0; nth < count; nth += 1) started.push(await send())
    return started
  }
  const setVerifyLimit = (rules: LimitRule[]) =>
    store.docs('apps').modify({ _id: 'app_1' }, { $set: { 'settings.limits.recipient_verify': rules } })
  /** `beforeLastMs`: so that the first one is out before the lock ends that begins with the last one. */
  const fillLimit = async (beforeLastMs = 0): Promise<void> => {
    for (const [nth, { otp_id, code }] of (await sendMany(MAX_WRONG)).entries()) {
      if (nth === MAX_WRONG - 1) await actor.clock.advance(beforeLastMs)
      await verify(otp_id, wrongCode(code))
    }
  }
  /** The sorted results of the same guess, asked of all processes at once. */
  const verifyEverywhere = async (otp_id: string, code: string): Promise<string[]> => {
    const asked = [actor, ...others].flatMap(by => [verify(otp_id, code, by), verify(otp_id, code, by)])
    return (await Promise.all(asked)).map(resultOf).sort()
  }

  /** What another process does: it compares codes until this many were wrong. */
  const guessMeanwhile = async (otp_id: string, wrong_codes: number): Promise<void> => {
    const { rev } = await storedOtp(store, otp_id)
    await store.docs('otps').change([{ _id: otp_id, rev, update: { $set: { 'context.wrong_codes': wrong_codes } } }])
  }

  it('are refused also as the first of a verification once as many of these were wrong as the limit allows', async () => {
    await fillLimit()
    const [right, ...wrong] = await sendMany(1 + MAX_WRONG)
    const verifyWrong = async () => {
      const answers = await Promise.all(wrong.map(({ otp_id, code }) => verify(otp_id, wrongCode(code))))
      return answers.map(resultOf)
    }
    expect(resultOf(await verify(right?.otp_id ?? '', right?.code ?? '')), 'a right one is not counted').to.equal(
      'approved',
    )
    expect(await verifyWrong()).to.deep.equal(Array(MAX_WRONG).fill('pending'))
    const beyond = await send()
    for (const code of [beyond.code, wrongCode(beyond.code)])
      expect(await verifyEverywhere(beyond.otp_id, code)).to.deep.equal(
        Array(2 * (1 + OTHER_PROCESSES)).fill('recipient_verify'),
      )
    await actor.clock.advance(2 * HOUR_MS)
    const later = await send()
    expect(resultOf(await verify(later.otp_id, later.code))).to.equal('approved')
  })

  it('are refused also as the first while the lock lasts, although the counts of the limit have slid out', async () => {
    await fillLimit(HOUR_MS / 10)
    await actor.clock.advance(HOUR_MS - 2 * MINUTE_MS)
    for (const { otp_id, code } of await sendMany(MAX_WRONG))
      expect(resultOf(await verify(otp_id, wrongCode(code)))).to.equal('pending')
    const { otp_id, code } = await send()
    const refused = await verify(otp_id, code)
    expect(resultOf(refused)).to.equal('recipient_verify')
    // The lock ends before the first guesses slide out.
    expect(refused).to.have.property('retry_after_ms', 2 * MINUTE_MS)
    await actor.clock.advance(2 * MINUTE_MS)
    expect(resultOf(await verify(otp_id, code))).to.equal('approved')
  })

  it('are compared and wrong at most twice as often in a window as the rule says, at any timing', async () => {
    const rounds = fc.array(
      fc.record({
        wait_ms: fc.oneof(fc.constant(0), fc.nat(9 * MINUTE_MS), fc.nat(HOUR_MS)),
        sends: fc.integer({ min: 2, max: 4 }),
        guessesOfEach: fc.integer({ min: 1, max: 2 }),
        atOnce: fc.boolean(),
      }),
      { minLength: 3, maxLength: 5 },
    )
    let recipients = 0
    await fc.assert(
      fc.asyncProperty(rounds, async rounds => {
        recipients += 1
        const recipient = `+1415555${1_000 + recipients}`
        const wrongByHour = new Map<number, number>()
        for (const { wait_ms, sends, guessesOfEach, atOnce } of rounds) {
          await actor.clock.advance(wait_ms)
          const started = await Promise.all(Array.from({ length: sends }, () => send(recipient)))
          const guesses = started.flatMap(one => Array.from({ length: guessesOfEach }, () => one))
          const guess = ({ otp_id, code }: (typeof started)[number]) => verify(otp_id, wrongCode(code))
          const answers: OtpAnswer[] = []
          if (atOnce) answers.push(...(await Promise.all(guesses.map(guess))))
          else for (const one of guesses) answers.push(await guess(one))
          const hour = Math.floor(actor.clock.now() / HOUR_MS)
          const compared = answers.filter(({ kind }) => kind === 'verified').length
          wrongByHour.set(hour, (wrongByHour.get(hour) ?? 0) + compared)
        }
        expect(Math.max(...wrongByHour.values())).to.be.at.most(2 * MAX_WRONG)
      }),
      { numRuns: propertyRuns(4) },
    )
  })

  it('are compared once for a new verification of a locked recipient, in all processes together', async () => {
    await fillLimit()
    const refused = Array(2 * (1 + OTHER_PROCESSES) - 1).fill('recipient_verify')
    const [guessed, entered] = [await send(), await send()]
    expect(await verifyEverywhere(guessed.otp_id, wrongCode(guessed.code))).to.deep.equal(['pending', ...refused])
    expect(await verifyEverywhere(guessed.otp_id, guessed.code), 'the right code is not revealed').to.deep.equal([
      'recipient_verify',
      ...refused,
    ])
    expect(await verifyEverywhere(entered.otp_id, entered.code)).to.deep.equal(['approved', ...refused])
  })

  it('are compared once for a new verification while only the lock refuses, because the counts have slid out', async () => {
    // A counting window ends in a minute. An hour after its end nothing of it counts, but the lock lasts an hour from the last wrong code.
    await fillLimit(HOUR_MS / 10)
    await actor.clock.advance(HOUR_MS - MINUTE_MS)
    const { otp_id, code } = await send()
    // The first guess takes a place in the limit, loses its race to another guess, and is then an ordinary guess.
    overtake = () => guessMeanwhile(otp_id, 1)
    expect(resultOf(await verify(otp_id, code))).to.equal('recipient_verify')
    expect(overtake).to.equal(null)
  })

  it('lock for the time of the rule that is full, not for that of a longer one with room', async () => {
    await setVerifyLimit([
      { max: MAX_WRONG, seconds: 3600 },
      { max: MAX_WRONG + 1, seconds: 86_400 },
    ])
    const lock = async (): Promise<number> => {
      const counters = await store.docs('counters').find({}, { sort: { _id: 1 }, limit: 10 })
      return Math.max(...counters.map(({ locked_until = 0 }) => locked_until - actor.clock.now()))
    }
    await fillLimit()
    expect(await lock()).to.equal(HOUR_MS)
    await actor.clock.advance(2 * HOUR_MS)
    const { otp_id, code } = await send()
    expect(resultOf(await verify(otp_id, wrongCode(code)))).to.equal('pending')
    expect(await lock()).to.equal(24 * HOUR_MS)
    expect(resultOf(await verify(otp_id, code))).to.equal('recipient_verify')
  })

  it('are counted when they were a first guess beyond the limit, but another was first and the limit has room since', async () => {
    await fillLimit()
    const { otp_id, code } = await send()
    const counters = store.docs('counters')
    overtake = async () => {
      await guessMeanwhile(otp_id, 1)
      await counters.remove({ _id: { $gt: '' } }, 100)
    }
    expect(resultOf(await verify(otp_id, wrongCode(code)))).to.equal('pending')
    for (let nth = 1; nth < MAX_WRONG; nth += 1)
      expect(resultOf(await verify(otp_id, wrongCode(code)))).to.equal('pending')
    expect(resultOf(await verify(otp_id, code))).to.equal('recipient_verify')
  })

  it('after an approval are compared only as often as there are attempts, also when another process compares meanwhile', async () => {
    const { otp_id, code } = await send()
    await verify(otp_id, code)
    expect(resultOf(await verify(otp_id, code)), 'a repeat').to.equal('approved')
    overtake = () => guessMeanwhile(otp_id, 5)
    expect(resultOf(await verify(otp_id, code)), 'no attempt is left').to.equal('OtpNotPendingError')
    expect(overtake).to.equal(null)
  })

  it('are answered after a lost race, even the last one that the limit allows', async () => {
    for (let nth = 1; nth < MAX_WRONG; nth += 1) {
      const { otp_id, code } = await send()
      await verify(otp_id, wrongCode(code))
    }
    const { otp_id, code } = await send()
    // The first guess is another one now, so this one needs its place in the limit.
    overtake = () => guessMeanwhile(otp_id, 1)
    expect(resultOf(await verify(otp_id, wrongCode(code)))).to.equal('pending')
    expect(overtake).to.equal(null)
    expect(resultOf(await verify(otp_id, code))).to.equal('recipient_verify')
  })

  it('are answered when they are wrong, even if the recipient cannot be locked', async () => {
    await setVerifyLimit([{ max: 1, seconds: 3600 }])
    const { otp_id, code } = await send()
    broken = 'counters.update'
    expect(await verify(otp_id, wrongCode(code))).to.include({ kind: 'verified', matched: false, attempts_left: 4 })
    broken = null
    expect(resultOf(await verify(otp_id, code)), 'it is counted').to.equal('recipient_verify')
  })

  it('are answered when they are right, even if their count cannot be given back', async () => {
    const { otp_id, code } = await send()
    broken = 'counters.update'
    expect(resultOf(await verify(otp_id, code))).to.equal('approved')
  })
})

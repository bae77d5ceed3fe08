import { expect } from 'chai'
import { type Caller, refusal } from '../support/api-caller.ts'
import { freshNumber, wrongCode } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'

const HOUR_MS = 3_600_000

/** Two wrong codes per verification, and three per recipient in an hour. */
const SETTINGS = {
  verify_attempts: 2,
  limits: { recipient_verify: [{ max: 3, seconds: 3600 }], recipient: [{ max: 100, seconds: 600 }] },
}

describeFlow('wrong codes for one recipient', flow => {
  const startVerification = async (by: Caller, to: string, messages: number) => {
    const { otp_id } = (await by.send(to)).body
    return { otp_id, code: await flow.waitForCode(to, messages) }
  }

  /** Near the end of the counting window: soon after, its count has mostly lapsed and only the lock refuses. */
  const advanceToEndOfHour = () => flow.advance(2 * HOUR_MS - (flow.clock.now() % HOUR_MS) - 60_000)

  it('lock the recipient across verifications, for the whole time of the limit', async () => {
    const { server } = await flow.createTenant(SETTINGS)
    const to = freshNumber()
    await advanceToEndOfHour()
    const first = await startVerification(server, to, 1)
    for (let nth = 0; nth < 2; nth += 1) await server.verify(first.otp_id, wrongCode(first.code))
    const second = await startVerification(server, to, 2)
    expect((await server.verify(second.otp_id, wrongCode(second.code))).body.status).to.equal('pending')

    const locked = await server.verify(second.otp_id, second.code)
    expect(refusal(locked)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'recipient_verify' })
    flow.expectRetryAfter(locked, 3600)
    expect((await server.status(second.otp_id)).body, 'the refusal is not counted').to.include({ attempts_left: 1 })

    const other = await flow.startVerification(server)
    expect((await server.verify(other.otp_id, other.code)).body.matched, 'other recipients are not locked').to.equal(
      true,
    )

    await flow.advance(HOUR_MS)
    const third = await startVerification(server, to, 3)
    expect((await server.verify(third.otp_id, third.code)).body.matched).to.equal(true)
  })

  it('lock the recipient for the whole time also when the last one came after an approval', async () => {
    const { server } = await flow.createTenant(SETTINGS)
    const to = freshNumber()
    await advanceToEndOfHour()
    const first = await startVerification(server, to, 1)
    await server.verify(first.otp_id, first.code)
    for (let nth = 0; nth < 2; nth += 1) await server.verify(first.otp_id, wrongCode(first.code))
    const second = await startVerification(server, to, 2)
    await server.verify(second.otp_id, second.code)
    await server.verify(second.otp_id, wrongCode(second.code))
    const third = await startVerification(server, to, 3)
    const locked = await server.verify(third.otp_id, third.code)
    expect(refusal(locked)).to.deep.include({ status: 429, scope: 'recipient_verify' })
    flow.expectRetryAfter(locked, 3600)
  })

  it('are counted separately for verifications that server keys and publishable keys started', async () => {
    const { server, device } = await flow.createTenant(SETTINGS)
    const to = freshNumber()
    const mine = await startVerification(server, to, 1)
    const [one, two] = [await startVerification(device, to, 2), await startVerification(device, to, 3)]
    for (const { otp_id, code } of [one, one, two]) await device.verify(otp_id, wrongCode(code))
    expect((await device.verify(two.otp_id, two.code)).body.scope, 'publishable keys are locked').to.equal(
      'recipient_verify',
    )
    expect((await server.verify(mine.otp_id, mine.code)).body.matched).to.equal(true)
  })

  it('lock the recipient after the same number when they arrive at once', async () => {
    const { server } = await flow.createTenant(SETTINGS)
    const to = freshNumber()
    const started = []
    for (let nth = 1; nth <= 4; nth += 1) started.push(await startVerification(server, to, nth))
    const guesses = started.flatMap(({ otp_id, code }) =>
      [code, code].map(each => server.verify(otp_id, wrongCode(each))),
    )
    const answers = await flow.advanceUntil(Promise.all(guesses))
    expect(answers.filter(({ status }) => status === 200)).to.have.length(3)
    expect(answers.filter(({ body }) => body.scope === 'recipient_verify')).to.have.length(5)
  })
})

import { expect } from 'chai'
import { type Answer, type Caller, refusal } from '../support/api-caller.ts'
import { freshNumber, wrongCode } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

const HOUR_MS = 3_600_000

/** Two wrong codes per verification, and three per recipient in an hour. */
const SETTINGS = {
  verify_attempts: 2,
  limits: { recipient_verify: [{ max: 3, seconds: 3600 }], recipient: [{ max: 100, seconds: 600 }] },
}

describeFlow('wrong codes for one recipient', (flow, engines) => {
  const itOnce = itOnceOf(engines)
  const startVerification = async (by: Caller, to: string, messages: number) => {
    const { otp_id } = (await by.send(to)).body
    return { otp_id, code: await flow.waitForCode(to, messages) }
  }

  /** A tenth of the window: what was counted before is out when a lock that begins now ends, so only the lock refuses. */
  const advanceByPart = () => flow.advance(HOUR_MS / 10)

  /** Two verifications, three wrong codes. */
  const lockRecipient = async (by: Caller, to: string): Promise<void> => {
    for (const [nth, guesses] of [2, 1].entries()) {
      const { otp_id, code } = await startVerification(by, to, nth + 1)
      for (let guess = 0; guess < guesses; guess += 1) await by.verify(otp_id, wrongCode(code))
      if (nth === 0) await advanceByPart()
    }
  }

  itOnce('lock the recipient across verifications, for the whole time of the limit', async () => {
    const { server } = await flow.createTenant(SETTINGS)
    const to = freshNumber()
    const first = await startVerification(server, to, 1)
    for (let nth = 0; nth < 2; nth += 1) await server.verify(first.otp_id, wrongCode(first.code))
    await advanceByPart()
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

  it('allow one guess only when many arrive at once for a locked recipient', async () => {
    const { server } = await flow.createTenant(SETTINGS)
    const to = freshNumber()
    await lockRecipient(server, to)
    const [guessed, entered] = [await startVerification(server, to, 3), await startVerification(server, to, 4)]
    const verify = (otp_id: string, code: string) =>
      flow.advanceUntil(Promise.all(Array.from({ length: 8 }, () => server.verify(otp_id, code))))
    const results = (answers: Answer[]) => answers.map(({ body }) => body.scope ?? body.status).sort()
    const refused = Array(7).fill('recipient_verify')
    expect(results(await verify(guessed.otp_id, wrongCode(guessed.code)))).to.deep.equal(['pending', ...refused])
    expect(results(await verify(entered.otp_id, entered.code))).to.deep.equal(['approved', ...refused])
  })

  itOnce('are counted apart by the kind of key that guesses, and by the kind that started', async () => {
    const { server, device } = await flow.createTenant(SETTINGS)
    for (const starter of [server, device]) {
      const to = freshNumber()
      const mine = await startVerification(server, to, 1)
      const [one, two] = [await startVerification(starter, to, 2), await startVerification(starter, to, 3)]
      for (const { otp_id, code } of [one, one, two]) await device.verify(otp_id, wrongCode(code))
      const locked = await device.verify(two.otp_id, two.code)
      expect(locked.body.scope, 'the stranger is locked').to.equal('recipient_verify')
      expect((await server.verify(mine.otp_id, mine.code)).body.matched, 'the server is not').to.equal(true)
    }
  })
})

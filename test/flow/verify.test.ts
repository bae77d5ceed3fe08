// Verifies at once and late. What each verify is answered is in model-paths.test.ts.
import { expect } from 'chai'
import { refusal } from '../support/api-caller.ts'
import { wrongCode } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'

const CODE_LIFETIME_MS = 600_000

describeFlow('a verify', flow => {
  it('allows no more wrong codes at once than one after the other', async () => {
    const { server } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    const guesses = Array.from({ length: 12 }, () => server.verify(otp_id, wrongCode(code)))
    const answers = await flow.advanceUntil(Promise.all(guesses))
    const counted = answers.filter(({ status }) => status === 200).map(({ body }) => body.attempts_left)
    expect(counted.sort()).to.deep.equal([0, 1, 2, 3, 4])
    const refused = answers.filter(({ status }) => status !== 200).map(({ body }) => body.otp_status)
    expect(refused).to.deep.equal(Array(7).fill('failed'))
    expect((await server.verify(otp_id, code)).status).to.equal(409)
  })

  it('approves for one key only when several keys bring the right code at once', async () => {
    const { server, app } = await flow.createTenant()
    const other = await flow.createKey(app, 'server')
    const { otp_id, code } = await flow.startVerification(server)
    const keys = [server, other, server, other, server, other]
    const answers = await flow.advanceUntil(Promise.all(keys.map(key => key.verify(otp_id, code))))
    const winners = keys.filter((_, at) => answers[at]?.body.matched === true)
    expect(new Set(winners)).to.have.property('size', 1)
    expect(winners).to.have.length(3)
    await flow.eventually(async () => expect((await flow.events(app)).length).to.equal(2))
    expect((await flow.events(app)).filter(({ type }) => type === 'otp.approved')).to.have.length(1)
  })

  it('is refused after the code has expired, before and after the sweeper has marked it', async () => {
    const { server } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    await flow.advance(CODE_LIFETIME_MS)
    expect(refusal(await server.verify(otp_id, code))).to.deep.equal({ type: 'OtpExpiredError', status: 410 })
    expect((await server.status(otp_id)).body).to.include({ status: 'expired', resend_at: null, verified_at: null })
    const notPending = { cause: 'not_pending', otp_status: 'expired' }
    const lateResend = await server.resend(otp_id)
    expect(refusal(lateResend)).to.deep.equal({ type: 'ResendNotAllowedError', status: 409, ...notPending })
    expect(lateResend.body.detail).to.equal('The verification has expired, and only a pending one can be resent.')
    // The same answers once the sweeper has stored the expiry.
    await flow.eventually(async () => {
      const stored = (await flow.countersign.engines.store.docs('otps').get([otp_id])).get(otp_id)
      expect(stored?.value).to.equal('expired')
    })
    expect(refusal(await server.verify(otp_id, code))).to.deep.equal({ type: 'OtpExpiredError', status: 410 })
    expect((await server.status(otp_id)).body.status).to.equal('expired')
  })
})

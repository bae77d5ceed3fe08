import { expect } from 'chai'
import { refusal } from '../support/api-caller.ts'
import { wrongCode } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'

const CODE_LIFETIME_MS = 600_000

describeFlow('a verify', flow => {
  it('with the right code approves, and repeats its answer to the same key', async () => {
    const { server, app } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    const approved = { otp_id, status: 'approved', matched: true, attempts_left: 5, verification_token: null }
    const first = await server.verify(otp_id, code)
    expect([first.status, first.body]).to.deep.equal([200, approved])
    const again = await server.verify(otp_id, code)
    expect([again.status, again.body]).to.deep.equal([200, approved])

    const { body } = await server.status(otp_id)
    expect(body.status).to.equal('approved')
    expect(body.verified_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    await flow.eventually(async () => {
      const events = await flow.events(app)
      expect(events.filter(({ type }) => type === 'otp.approved')).to.have.length(1)
    })
  })

  it('with a wrong code costs an attempt, and without attempts left the verification fails and refuses the right code too', async () => {
    const { server, app } = await flow.createTenant({ verify_attempts: 3 })
    const { otp_id, code } = await flow.startVerification(server)
    const wrong = wrongCode(code)
    const guess = async () => (await server.verify(otp_id, wrong)).body
    const verified = { otp_id, matched: false, verification_token: null }
    expect(await guess()).to.deep.equal({ ...verified, status: 'pending', attempts_left: 2 })
    expect(await guess()).to.deep.equal({ ...verified, status: 'pending', attempts_left: 1 })
    expect(await guess()).to.deep.equal({ ...verified, status: 'failed', attempts_left: 0 })

    const failed = { type: 'OtpNotPendingError', status: 409, otp_status: 'failed' }
    expect(refusal(await server.verify(otp_id, code))).to.deep.equal(failed)
    expect((await server.status(otp_id)).body).to.include({ status: 'failed', verified_at: null, attempts_left: 0 })
    const event = await flow.eventually(async () => {
      const found = (await flow.events(app)).find(({ type }) => type === 'otp.failed')
      expect(found).to.not.equal(undefined)
      return found
    })
    expect(event?.payload).to.deep.equal({ otp_id, status: 'failed' })
  })

  it('takes the right code in another spelling', async () => {
    const { server } = await flow.createTenant({ verify_attempts: 1 })
    const spellings = [
      (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
      (code: string) => ` ${code.slice(0, 3)}-${code.slice(3)}\n`,
      (code: string) => [...code].map(digit => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]).join(''),
    ]
    for (const spell of spellings) {
      const { otp_id, code } = await flow.startVerification(server)
      expect((await server.verify(otp_id, spell(code))).body).to.include({ matched: true, attempts_left: 1 })
    }
  })

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

  it('with a server key is refused for a verification that a publishable key started, pending or ended', async () => {
    const { server, device } = await flow.createTenant({ verify_attempts: 1 })
    const { otp_id, code } = await flow.startVerification(device)
    const refused = { type: 'VerifyNotAllowedError', status: 409, cause: 'proved_by_exchange' }
    expect(refusal(await server.verify(otp_id, code))).to.deep.equal(refused)
    expect((await device.verify(otp_id, wrongCode(code))).body.status).to.equal('failed')
    expect(refusal(await server.verify(otp_id, code))).to.deep.equal(refused)
  })
})

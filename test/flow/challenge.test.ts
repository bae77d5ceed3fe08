import { expect } from 'chai'
import { CHALLENGE_SAMPLE } from '../../services/edge/docs/samples/challenge.ts'
import { type Answer, type Caller, refusal } from '../support/api-caller.ts'
import { solutionOf } from '../support/challenges.ts'
import { freshNumber } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

const ALWAYS = { publishable_challenge: 'always' }

describeFlow('a challenge', (flow, engines) => {
  const itOnce = itOnceOf(engines)
  /** Checks that the call is refused with a challenge that was not asked for before. */
  const salts = new Set<string>()
  const expectAsked = (answer: Answer): Answer => {
    const { challenge, ...rest } = refusal(answer)
    expect(rest, answer.text).to.deep.equal({ type: 'ChallengeRequiredError', status: 403 })
    expect(salts).not.to.include(challenge.salt)
    salts.add(challenge.salt)
    return answer
  }
  const solve = async (by: Caller, to: string): Promise<string> => solutionOf(expectAsked(await by.send(to)))

  itOnce('is asked of a publishable key in mode always, and its solution lets the call through', async () => {
    const { app, server, device } = await flow.createTenant(ALWAYS)
    const to = freshNumber()
    const asked = expectAsked(await device.send(to))
    const { challenge } = asked.body
    expect(challenge).to.include({ type: 'pow', algorithm: 'SHA-256', difficulty: 16 })
    expect(Date.parse(challenge.expires_at) - flow.clock.now()).to.be.within(200_000, 300_000)
    const sent = await device.send(to, { solution: solutionOf(asked) })
    expect(sent.status, sent.text).to.equal(200)
    const code = await flow.waitForCode(to)
    expect((await device.verify(sent.body.otp_id, code)).body.matched, 'a verify needs none').to.equal(true)

    expect((await server.send(freshNumber())).status, 'a server is not asked').to.equal(200)
    const { items } = (await flow.admin('GET', `/refusals?app_id=${app}`)).body
    expect(items).to.have.length(1)
    expect(items[0]).to.include({ type: 'ChallengeRequiredError', scope: null })
  })

  itOnce('is asked anew for a solution that is wrong, of another recipient, key or app, or late', async () => {
    const { app, device } = await flow.createTenant(ALWAYS)
    const stranger = (await flow.createTenant(ALWAYS)).device
    const colleague = await flow.createKey(app, 'publishable')
    const to = freshNumber()
    const solution = await solve(device, to)
    const [salt, nonce, signature] = solution.split('.')
    for (const wrong of [
      'anything',
      `${salt}.1.${signature}`,
      `${salt}.${nonce}.${signature?.replace(/^./, first => (first === 'A' ? 'B' : 'A'))}`,
      `${solution}${'0'.repeat(9_000 - solution.length)}`,
    ])
      expectAsked(await device.send(to, { solution: wrong }))
    expectAsked(await device.send(freshNumber(), { solution }))
    for (const other of [colleague, stranger]) expectAsked(await other.send(to, { solution }))
    await flow.advance(200_000)
    expect((await device.send(to, { solution })).status, 'none of these has spent it').to.equal(200)

    const late = await solve(device, to)
    await flow.advance(300_000)
    expectAsked(await device.send(to, { solution: late }))
  })

  it('is good once, also for calls at the same time', async () => {
    const { device } = await flow.createTenant(ALWAYS)
    const to = freshNumber()
    const solution = await solve(device, to)
    const answers = await Promise.all(Array.from({ length: 4 }, () => device.send(to, { solution })))
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 403, 403, 403])
    for (const answer of answers) if (answer.status === 403) expectAsked(answer)
    expectAsked(await device.send(to, { solution }))
    await flow.waitForCode(to, 1)
  })

  itOnce('is not asked for a replay by idempotency key, and a challenged call leaves its key free', async () => {
    const { device } = await flow.createTenant(ALWAYS)
    const [to, idempotency] = [freshNumber(), `sign-up ${freshNumber()}`]
    const solution = solutionOf(expectAsked(await device.send(to, { idempotency })))
    const sent = await device.send(to, { idempotency, solution })
    expect(sent.status, sent.text).to.equal(200)
    for (const again of [{ idempotency }, { idempotency, solution }]) {
      const replay = await device.send(to, again)
      expect(replay.body).to.deep.equal(sent.body)
      expect(replay.headers.get('idempotent-replayed')).to.equal('true')
    }
  })

  itOnce('is solved by the code in the documentation', async () => {
    const { device } = await flow.createTenant(ALWAYS)
    const send = new Function(`${CHALLENGE_SAMPLE}; return send`)()
    const to = freshNumber()
    expect(await send(flow.countersign.url, device.key, { recipient: to })).to.include({ status: 'pending' })
    await flow.waitForCode(to)
    const blocked = { recipient: '+15005550001' }
    expect(await send(flow.countersign.url, device.key, blocked)).to.include({ type: 'InvalidRecipientError' })
  })
})

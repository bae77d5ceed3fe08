import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Answer } from '../support/api-caller.ts'
import { freshNumber } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

const isReplay = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true'

describeFlow('an idempotency key', (flow, engines) => {
  const itOnce = itOnceOf(engines)
  it('turns twenty sends at once into one verification, one message and one answer', async () => {
    const { server, app } = await flow.createTenant()
    const [to, idempotency] = [freshNumber(), randomUUID()]
    const sends = Array.from({ length: 20 }, () => server.send(to, { idempotency }))
    const answers = await flow.advanceUntil(Promise.all(sends))
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200))
    expect(new Set(answers.map(({ text }) => text))).to.have.property('size', 1)
    expect(answers.filter(isReplay), 'all but the one that made it').to.have.length(19)
    await flow.waitForCode(to)
    const { items } = (await flow.admin('GET', `/apps/${app}/verifications`)).body
    expect(items).to.have.length(1)
    expect((await server.send(to)).status, 'counted once').to.equal(200)
  })

  itOnce('replays the first answer, also for another recipient and after the verification has ended', async () => {
    const { server } = await flow.createTenant()
    const [to, other, idempotency] = [freshNumber(), freshNumber(), randomUUID()]
    const first = await server.send(to, { idempotency })
    const replay = await server.send(other, { idempotency })
    expect(replay.text).to.equal(first.text)
    expect([first, replay].map(isReplay)).to.deep.equal([false, true])
    expect(isReplay(await server.send(other, { idempotency, locale: 'de', metadata: { order: 'A-2' } }))).to.equal(true)
    expect((await server.status(first.body.otp_id)).body, 'as the first call gave it').not.to.have.property('metadata')
    await server.cancel(first.body.otp_id)
    expect((await server.send(other, { idempotency, client_ip: '8.8.8.8' })).text).to.equal(first.text)
    await flow.waitForCode(to)
    expect(await flow.inbox(other)).to.deep.equal([])
  })

  itOnce('answers a repeat only if its body is valid, and then whatever else would refuse it', async () => {
    const limits = { recipient: [{ max: 1, seconds: 600 }] }
    const { server } = await flow.createTenant({ blocked_countries: ['BR'], limits })
    const [to, idempotency] = [freshNumber(), randomUUID()]
    const first = await server.send(to, { idempotency })
    const invalid = await server.send(to, { idempotency, client_ip: 'nonsense' })
    expect([invalid.body.type, (await server.send('+15005550001', { idempotency })).body.type]).to.deep.equal([
      'ValidationError',
      'InvalidRecipientError',
    ])
    for (const recipient of [to, '+5511987650001', 'ada@example.com', '+15005550004'])
      expect((await server.send(recipient, { idempotency })).text, recipient).to.equal(first.text)
  })
})

import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import { claimOf } from '../../services/edge/calls.ts'
import { type Answer, ask, refusal } from '../support/api-caller.ts'
import { freshNumber, type Tenant } from '../support/flow.ts'
import { describeFlow, FLOW_APP_KEYS } from '../support/shared-flow.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const CLAIM_HELD_MS = 30_000

const isReplay = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true'

describeFlow('an idempotency key', (flow, engines) => {
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

  it('expires no later than its verification is purged', async () => {
    const { server } = await flow.createTenant({ retention_days: 1, idempotency_ttl_seconds: 604_800 })
    const { body } = await server.send(freshNumber(), { idempotency: randomUUID() })
    const { store } = flow.countersign.engines
    const claims = await store.docs('claims').find({}, { sort: { _id: 1 }, limit: 10_000 })
    const claim = claims.find(({ otp_id }) => otp_id === body.otp_id)
    const otp = (await store.docs('otps').get([body.otp_id])).get(body.otp_id)
    expect(claim?.expires_at).to.be.at.most(otp?.purge_at.getTime() ?? 0)
  })

  it('replays the first answer, also for another recipient and after the verification has ended', async () => {
    const { server } = await flow.createTenant()
    const [to, other, idempotency] = [freshNumber(), freshNumber(), randomUUID()]
    const first = await server.send(to, { idempotency })
    const replay = await server.send(other, { idempotency })
    expect(replay.text).to.equal(first.text)
    expect([first, replay].map(isReplay)).to.deep.equal([false, true])
    expect(isReplay(await server.send(other, { idempotency, locale: 'de' }))).to.equal(true)
    expect(isReplay(await server.send(other, { idempotency, metadata: { order: 'A-2' } }))).to.equal(true)
    expect((await server.status(first.body.otp_id)).body, 'as the first call gave it').not.to.have.property('metadata')
    await server.cancel(first.body.otp_id)
    expect((await server.send(other, { idempotency, client_ip: '8.8.8.8' })).text).to.equal(first.text)
    await flow.waitForCode(to)
    expect(await flow.inbox(other)).to.deep.equal([])
  })

  it('answers a repeat only if its body is valid, and then whatever else would refuse it', async () => {
    const { server } = await flow.createTenant({
      blocked_countries: ['BR'],
      limits: { recipient: [{ max: 1, seconds: 600 }] },
    })
    const [to, idempotency] = [freshNumber(), randomUUID()]
    const first = await server.send(to, { idempotency })
    const repeat = (body: object) =>
      ask(`${flow.countersign.url}/api/v1/otp/send`, {
        method: 'POST',
        token: server.key,
        headers: { 'idempotency-key': idempotency },
        body: JSON.stringify(body),
      })
    for (const [body, type] of [
      [{ recipient: to, client_ip: 'nonsense' }, 'ValidationError'],
      [{ recipient: '+15005550001' }, 'InvalidRecipientError'],
    ] as const) {
      const answer = await repeat(body)
      expect([answer.status, answer.body.type], JSON.stringify(body)).to.deep.equal([422, type])
    }
    for (const recipient of [to, '+5511987650001', 'ada@example.com', '+15005550004'])
      expect((await repeat({ recipient })).text, recipient).to.equal(first.text)
  })

  it('stays free when its send is refused', async () => {
    const { server } = await flow.createTenant({
      blocked_countries: ['BR'],
      limits: { recipient: [{ max: 1, seconds: 600 }] },
    })
    const [to, idempotency] = [freshNumber(), randomUUID()]
    expect((await server.send('not a recipient', { idempotency })).status).to.equal(422)
    expect((await server.send('+5511987650001', { idempotency })).status).to.equal(403)
    await server.send(to)
    expect((await server.send(to, { idempotency })).status).to.equal(429)
    expect((await server.send(freshNumber(), { idempotency })).status).to.equal(200)
  })

  it('is valid within one company, one mode and one kind of API key', async () => {
    const mine = await flow.createTenant()
    const sibling = await flow.createTenant({}, mine.company)
    const otherCompany = await flow.createTenant()
    const idempotency = randomUUID()
    const send = async ({ server }: Pick<Tenant, 'server'>) => (await server.send(freshNumber(), { idempotency })).body
    const { otp_id } = await send(mine)
    expect((await send(sibling)).otp_id).to.equal(otp_id)
    expect((await send(otherCompany)).otp_id).to.not.equal(otp_id)
    expect((await send({ server: mine.device })).otp_id).to.not.equal(otp_id)
    expect(
      (await sibling.server.status(otp_id)).status,
      'the answer is replayed, but the verification stays hidden',
    ).to.equal(404)

    const [live, test] = [flow.caller(FLOW_APP_KEYS.live), flow.caller(FLOW_APP_KEYS.test)]
    const [one, other] = [await send({ server: live }), await send({ server: test })]
    expect(one.otp_id).to.not.equal(other.otp_id)
  })

  describe('whose process died before it saved the verification', () => {
    /** Stores what such a process leaves behind: the claim, and nothing else. */
    async function leaveClaim(
      { company, app }: Tenant,
      diedAt: number,
    ): Promise<{ idempotency: string; otp_id: string }> {
      const [idempotency, otp_id] = [randomUUID(), newId('otp', diedAt)]
      const by = { company_id: company, app_id: app, mode: 'test', key_id: 'key_dead_process', kind: 'server' } as const
      const { data, code } = flow.countersign.secrets
      const keyring = createKeyring({ dataKeys: data, codeSecrets: code })
      const { ids = [], sealed_key = '' } = claimOf(keyring, by, idempotency) ?? {}
      await flow.countersign.engines.store.docs('claims').insert(
        ids.map(_id => ({
          _id,
          otp_id,
          held_until: diedAt + CLAIM_HELD_MS,
          claimed_at: diedAt,
          sealed_key,
          expires_at: diedAt + DAY_MS,
          purge_at: new Date(diedAt + DAY_MS + CLAIM_HELD_MS),
        })),
      )
      return { idempotency, otp_id }
    }

    const verificationsOf = async ({ app }: Tenant): Promise<string[]> => {
      const { items } = (await flow.admin('GET', `/apps/${app}/verifications`)).body
      return items.map(({ otp_id }: { otp_id: string }) => otp_id)
    }

    it('makes one verification of twenty sends at once', async () => {
      for (const diedBefore of [CLAIM_HELD_MS, HOUR_MS]) {
        const shop = await flow.createTenant()
        const { idempotency } = await leaveClaim(shop, flow.clock.now() - diedBefore)
        const sends = Array.from({ length: 20 }, () => shop.server.send(freshNumber(), { idempotency }))
        const answers = await flow.advanceUntil(Promise.all(sends))
        expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).to.have.property('size', 1)
        expect(await verificationsOf(shop)).to.deep.equal([answers[0]?.body.otp_id])
      }
    })

    if (engines === 'embedded')
      it('answers 503 while that process may still be alive, and is taken over later', async () => {
        const shop = await flow.createTenant()
        const { idempotency } = await leaveClaim(shop, flow.clock.now())
        const early = await flow.advanceUntil(shop.server.send(freshNumber(), { idempotency }))
        expect(refusal(early)).to.deep.include({ type: 'ServiceUnavailableError', status: 503 })
        expect(early.headers.get('retry-after')).to.equal('1')
        await flow.advance(CLAIM_HELD_MS)
        const later = await flow.advanceUntil(shop.server.send(freshNumber(), { idempotency }))
        expect(later.status, later.text).to.equal(200)
        expect((await shop.server.send(freshNumber(), { idempotency })).text).to.equal(later.text)
      })
  })
})

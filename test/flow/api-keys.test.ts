import { expect } from 'chai'
import { type Answer, refusal } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

const REFUSED = { type: 'HTTPException', status: 401, code: 'invalid_key' }

describeFlowOnce('an API key', flow => {
  const revoke = async (id: string): Promise<void> => {
    expect((await flow.admin('DELETE', `/keys/${id}`)).status).to.equal(204)
  }

  it('that is revoked is refused by every operation within five seconds, in the words for an unknown key', async () => {
    const { app, server } = await flow.createTenant()
    const [key, unused] = [await flow.createKey(app, 'server'), await flow.createKey(app, 'publishable')]
    const { otp_id, code } = await flow.startVerification(key)
    for (const { id } of [key, unused]) await revoke(id)
    const atOnce = await unused.send(freshNumber())
    expect(atOnce.headers.get('www-authenticate')).to.include('Bearer')
    await flow.advance(CACHE_TTL_MS)
    const answers = await Promise.all([
      key.send(freshNumber()),
      key.resend(otp_id),
      key.verify(otp_id, code),
      key.status(otp_id),
      key.cancel(otp_id),
      key.exchange('otp_vt_x'),
    ])
    const same = ({ body }: Answer) => ({ ...body, request_id: '' })
    const unknown = same(await flow.caller('sk_test_never').send(freshNumber()))
    for (const answer of [atOnce, ...answers]) {
      expect(refusal(answer)).to.deep.equal(REFUSED)
      expect(same(answer)).to.deep.equal(unknown)
    }
    const { body } = await server.verify(otp_id, code)
    expect(body, 'another key continues').to.include({ matched: true, attempts_left: 5 })
  })

  it('has its last use shown to the minute, and not before it was used', async () => {
    const { app } = await flow.createTenant()
    const [key, unusedKey] = [await flow.createKey(app, 'server'), await flow.createKey(app, 'server')]
    const lastUseOf = async ({ id }: { id: string }): Promise<string | null> => {
      const { items } = (await flow.admin('GET', `/apps/${app}/keys`)).body
      return items.find((shown: { id: string }) => shown.id === id).last_used_at
    }
    expect(await lastUseOf(key)).to.equal(null)
    const from = flow.clock.now()
    await key.send(freshNumber())
    const until = flow.clock.now()
    // The shared Countersign may have written a moment ago: the next write follows within a minute.
    await flow.advance(61_000)
    await flow.eventually(async () => {
      const lastUse = await lastUseOf(key)
      expect(lastUse).to.match(/:00\.000Z$/)
      expect(Date.parse(String(lastUse))).to.be.within(from - 60_000, until)
    })
    expect(await lastUseOf(unusedKey)).to.equal(null)
  })
})

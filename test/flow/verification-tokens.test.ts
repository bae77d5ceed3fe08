import { expect } from 'chai'
import { newId } from '../../infra/ids.ts'
import type { Answer } from '../support/api-caller.ts'
import type { Tenant } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

const TOKEN_LIFETIME_MS = 600_000

/** Every part of an answer by which a caller could tell one refusal from another. */
const comparable = ({ status, text, headers, body }: Answer) => ({
  status,
  text: text.replace(body.request_id, '…'),
  headers: [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)),
})

describeFlow('a verification token', (flow, engines) => {
  const itOnce = itOnceOf(engines)
  const verifyOnDevice = async ({ device }: Tenant) => {
    const { otp_id, to, code } = await flow.startVerification(device)
    const { body } = await device.verify(otp_id, code)
    expect(body).to.include({ status: 'approved', matched: true })
    return { otp_id, to, code, token: body.verification_token as string }
  }

  itOnce('proves the recipient to a server key, as often as the same key asks', async () => {
    const shop = await flow.createTenant()
    const { otp_id, to, token } = await verifyOnDevice(shop)
    expect(token)
      .to.match(/^otp_vt_/)
      .and.have.length.at.most(128)
    const first = await shop.server.exchange(token)
    expect(first.status).to.equal(200)
    const { verified_at } = (await shop.server.status(otp_id)).body
    expect(first.body).to.deep.equal({ otp_id, recipient: to, recipient_type: 'phone', channel: 'sms', verified_at })
    const again = await shop.server.exchange(token)
    expect([again.status, again.text]).to.deep.equal([200, first.text])
  })

  itOnce('is refused with the same answer for every reason', async () => {
    const shop = await flow.createTenant()
    const other = await flow.createTenant()
    const second = await flow.createKey(shop.app, 'server')
    const live = await flow.createKey(shop.app, 'server', 'live')
    const [used, unused] = [await verifyOnDevice(shop), await verifyOnDevice(shop)]
    await shop.server.exchange(used.token)
    const last = unused.token.at(-1)
    const tampered = unused.token.replace(/.$/, last === 'A' ? 'B' : 'A')
    const refused = {
      'exchanged by another key': await second.exchange(used.token),
      'of another app': await other.server.exchange(unused.token),
      'of the other mode': await live.exchange(unused.token),
      'of no verification': await shop.server.exchange(withOtpId(unused.token, newId('otp', flow.clock.now()))),
      'of another verification': await shop.server.exchange(withOtpId(unused.token, used.otp_id)),
      'of one that is pending': await shop.server.exchange(
        withOtpId(unused.token, (await flow.startVerification(shop.device)).otp_id),
      ),
      forged: await shop.server.exchange(tampered),
      nonsense: await shop.server.exchange('otp_vt_nonsense'),
    }
    const expected = comparable(await shop.server.exchange('otp_vt_'))
    expect(expected).to.include({ status: 404 })
    for (const [name, answer] of Object.entries(refused)) expect(comparable(answer), name).to.deep.equal(expected)
    expect((await shop.server.exchange(unused.token)).status, 'not used up by the refusals').to.equal(200)

    await flow.advance(TOKEN_LIFETIME_MS)
    const late = await verifyOnDevice(shop)
    await flow.advance(TOKEN_LIFETIME_MS)
    for (const { token } of [used, late])
      expect(comparable(await shop.server.exchange(token)), 'too old').to.deep.equal(expected)
  })

  it('is exchanged by one key only when several try at once', async () => {
    const shop = await flow.createTenant()
    const keys = [shop.server, await flow.createKey(shop.app, 'server'), await flow.createKey(shop.app, 'server')]
    const { token } = await verifyOnDevice(shop)
    const answers = await flow.advanceUntil(Promise.all([...keys, ...keys].map(key => key.exchange(token))))
    const winners = answers
      .map(({ status }, at) => (status === 200 ? at % keys.length : null))
      .filter(at => at !== null)
    expect(winners).to.have.length(2)
    expect(new Set(winners)).to.have.property('size', 1)
  })
})

/** The token with the id of another verification. */
const withOtpId = (token: string, otp_id: string): string =>
  `otp_vt_${otp_id.slice('otp_'.length)}${token.slice('otp_vt_'.length + 26)}`

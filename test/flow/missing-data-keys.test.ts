// An operator removes a data key before the rotation is done. Calls that need the key get 503 and use up nothing, other calls work, and
// everything works again when the key is put back.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { checkKeys } from '../../services/domain/privacy/canary.ts'
import { twilioSid } from '../../services/domain/tenancy/twilio-sids.ts'
import { newWebhookSecret } from '../../services/domain/webhooks/secrets.ts'
import { standardSignature } from '../../services/domain/webhooks/standard-signature.ts'
import type { Answer, Caller } from '../support/api-caller.ts'
import { type Flow, freshNumber, startFlow, wrongCode } from '../support/flow.ts'

const [OLD, NEW] = ['old', 'new'].map((id, at) => ({ id, key: Buffer.alloc(32, at + 1) }))
const dataKeysSetting = (...keys: (typeof OLD)[]): string =>
  keys.map(one => `${one?.id}:${one?.key.toString('base64')}`).join(',')
const LINKS = { channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } } }

/** Verifications and configs from before the key was removed. */
async function createEarlierState(flow: Flow) {
  const shop = await flow.createTenant({ resend_cooldown_seconds: [0] })
  const chat = await flow.createTenant({ ...LINKS, routing: { default: ['whatsapp'] }, resend_cooldown_seconds: [0] })
  const box = { channel: 'sms', type: 'sandbox', config: {} }
  expect((await flow.admin('PUT', `/apps/${shop.app}/providers/box`, box)).status).to.be.oneOf([200, 201])
  const live = await flow.createKey(shop.app, 'server', 'live')
  const [pending, canceled] = [await flow.startVerification(shop.server), await flow.startVerification(shop.server)]
  const shortLived = await flow.createTenant({ code: { ttl_seconds: 60 } })
  const expiring = await flow.startVerification(shortLived.server)
  const replayed = freshNumber()
  const link = (await chat.server.send(replayed, { idempotency: 'again' })).body.otp_id
  const bound = (await shop.server.send(freshNumber(), { idempotency: 'bound' })).body.otp_id
  const to = freshNumber()
  const device = await shop.device.send(to)
  const verified = await shop.device.verify(device.body.otp_id, await flow.waitForCode(to))
  const hook = newWebhookSecret()
  const set = await flow.admin('PUT', `/apps/${shop.app}/hooks/supabase`, { mode: 'test', secrets: hook })
  expect(set.status).to.equal(200)
  const paid = await live.send(freshNumber())
  expect(paid.status).to.equal(200)
  const token: string = verified.body.verification_token
  return {
    shop,
    chat,
    live,
    pending,
    canceled,
    shortLived,
    expiring,
    replayed,
    link,
    bound,
    token,
    paid: paid.body.otp_id,
    hook,
  }
}

describe('a data key that is removed too early', () => {
  let flow: Flow
  let earlier: Awaited<ReturnType<typeof createEarlierState>>
  const reconnect = ({ key }: Caller): Caller => flow.caller(key)

  const restart = async (...keys: (typeof OLD)[]): Promise<void> => {
    const at = flow.clock.now()
    await flow.advanceUntil(flow.countersign.stop())
    flow = await startFlow({
      engines: 'embedded',
      site: flow.countersign.site,
      env: { DATA_KEYS: dataKeysSetting(...keys) },
    })
    await flow.advance(Math.max(0, at - flow.clock.now()))
  }
  const missingKeyLogs = () => flow.countersign.log.lines().filter(({ msg }) => msg === 'key.missing')

  const expectUnavailable = ({ status, body, headers }: Answer): void => {
    expect({ status, type: body.type }).to.deep.equal({ status: 503, type: 'ServiceUnavailableError' })
    expect(headers.get('retry-after')).to.equal('15')
  }

  const callHook = (): Promise<Response> => {
    const body = JSON.stringify({ user: {}, sms: { otp: '561166', phone: freshNumber() } })
    const signed = { id: 'msg_1', timestamp: String(Math.floor(flow.clock.now() / 1000)), body }
    return fetch(`${flow.countersign.url}/hooks/supabase/${earlier.shop.app}`, {
      method: 'POST',
      headers: {
        'webhook-id': signed.id,
        'webhook-timestamp': signed.timestamp,
        'webhook-signature': `v1,${standardSignature(earlier.hook, signed)}`,
      },
      body,
    })
  }

  before(async () => {
    flow = await startFlow({ engines: 'embedded', env: { DATA_KEYS: dataKeysSetting(OLD) } })
    earlier = await createEarlierState(flow)
    // A process with both keys leaves the store like this before its sweeper has renewed anything.
    const both = createKeyring({
      dataKeys: [NEW, OLD].flatMap(one => one ?? []),
      codeSecrets: flow.countersign.secrets.code,
    })
    const place = { setting: 'MONGODB_URL', deletable: null } as const
    await checkKeys({ store: flow.countersign.engines.store, keyring: both, place })
    await restart(NEW)
  })
  after(() => flow.stop())

  it('makes every verify answer 503 without counting an attempt, and is logged once by its id', async () => {
    const server = reconnect(earlier.shop.server)
    const { otp_id, code } = earlier.pending
    for (const guess of [wrongCode(code), code, wrongCode(code)]) expectUnavailable(await server.verify(otp_id, guess))
    expect((await server.status(otp_id)).body).to.include({ status: 'pending', attempts_left: 5 })
    expect(missingKeyLogs()).to.have.length(1)
    expect(missingKeyLogs()[0]).to.include({ setting: 'DATA_KEYS', key_id: 'old', otp_id, level: 'error' })
  })

  it('does not affect cancels, status reads and new verifications', async () => {
    const { shop, chat, canceled, link } = earlier
    const server = reconnect(shop.server)
    expect((await server.cancel(canceled.otp_id)).body).to.include({ status: 'canceled' })
    expect((await server.verify(canceled.otp_id, canceled.code)).body).to.include({ type: 'OtpNotPendingError' })
    const seen = await reconnect(chat.server).status(link)
    expect(seen.body).to.include({ status: 'pending', action_url: null })
    const fresh = await flow.startVerification(server)
    expect((await server.verify(fresh.otp_id, fresh.code)).body).to.include({ matched: true })
  })

  it('does not keep codes from expiring', async () => {
    const { shortLived, expiring } = earlier
    await flow.advance(61_000)
    const late = await reconnect(shortLived.server).verify(expiring.otp_id, expiring.code)
    expect({ status: late.status, type: late.body.type }).to.deep.equal({ status: 410, type: 'OtpExpiredError' })
  })

  it('makes resends and exchanges answer 503', async () => {
    const { shop, chat, pending, link, token } = earlier
    const [server, chats] = [reconnect(shop.server), reconnect(chat.server)]
    expectUnavailable(await server.resend(pending.otp_id))
    expectUnavailable(await chats.resend(link))
    expectUnavailable(await server.exchange(token))
    expect((await server.exchange(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).status).to.equal(404)
  })

  it('makes Twilio’s API and the hook of Supabase say that they are unavailable', async () => {
    const { shop, pending } = earlier
    const path = `Services/${twilioSid('app', shop.app)}/Verifications/${twilioSid('otp', pending.otp_id)}`
    const shown = await fetch(`${flow.countersign.url}/compat/twilio/v2/${path}`, {
      headers: { Authorization: `Basic ${btoa(`SK:${shop.server.key}`)}` },
    })
    expect([shown.status, ((await shown.json()) as { code: number }).code]).to.deep.equal([503, 20503])
    const called = await callHook()
    expect([called.status, called.headers.get('retry-after')]).to.deep.equal([200, null])
    expect(((await called.json()) as { error: object }).error).to.include({ http_code: 503 })
  })

  it('makes a send repeated with its idempotency key a new one, and live sends and resends answer 503', async () => {
    const repeated = await reconnect(earlier.shop.server).send(freshNumber(), { idempotency: 'bound' })
    expect(repeated.status).to.equal(200)
    expect(repeated.body.otp_id, 'the key cannot be found').to.not.equal(earlier.bound)
    const live = reconnect(earlier.live)
    expectUnavailable(await live.send(freshNumber()))
    expectUnavailable(await live.resend(earlier.paid))
  })

  it('has cost nothing once it is put back', async () => {
    await restart(NEW, OLD)
    const { shop, chat, pending, link, replayed, token, live, paid } = earlier
    const server = reconnect(shop.server)
    const resent = await reconnect(chat.server).resend(link)
    expect(resent.body.action_url).to.include('https://wa.me/')
    const repeated = await reconnect(chat.server).send(replayed, { idempotency: 'again' })
    expect(repeated.body).to.deep.include({ otp_id: link }).and.to.have.property('action_url').that.is.a('string')
    expect((await server.verify(pending.otp_id, pending.code)).body).to.include({ matched: true, attempts_left: 5 })
    expect((await server.exchange(token)).status).to.equal(200)
    expect((await callHook()).status).to.equal(200)
    expect((await reconnect(live).send(freshNumber())).status).to.equal(200)
    expect((await reconnect(live).resend(paid)).status).to.equal(200)
  })
})

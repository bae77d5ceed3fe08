// A data subject asks for erasure: an operator names a recipient and an app, and the store keeps nothing that identifies the recipient.
import { expect } from 'chai'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { recipientIndexes, sandboxIndexes } from '../../services/domain/verifications/lookup-indexes.ts'
import type { Answer } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber, wrongCode } from '../support/flow.ts'
import { collectionsContaining, rawDocuments } from '../support/raw-documents.ts'
import { describeFlow } from '../support/shared-flow.ts'

const NOTHING = {
  verifications: 0,
  ended: 0,
  attempts: 0,
  messages: 0,
  events: 0,
  counters: 0,
  decisions: 0,
  refusals: 0,
  idempotency_keys: 0,
  blocks: 0,
  rules: 0,
}
const LINKS = { channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } } }

describeFlow('an erasure of a recipient', flow => {
  const erase = (app: string, recipient: string): Promise<Answer> =>
    flow.admin('POST', `/apps/${app}/erase`, { recipient })

  /** Every index under which the store finds a recipient of an app. */
  const indexesOf = (app_id: string, recipient: string): string[] => {
    const { data, code } = flow.countersign.secrets
    const keyring = createKeyring({ dataKeys: data, codeSecrets: code })
    const modes = (['live', 'test'] as const).flatMap(mode => recipientIndexes(keyring, { app_id, mode }, recipient))
    return [...modes, ...sandboxIndexes(keyring, recipient)]
  }

  /** The journal of erasures is there to find the recipient again in a backup. */
  async function expectJournaledAlone(app: string, recipient: string): Promise<void> {
    const { store } = flow.countersign.engines
    for (const index of indexesOf(app, recipient))
      expect((await collectionsContaining(store, index)).filter(name => name !== 'erasures')).to.deep.equal([])
  }

  it('of a company removes the recipient from all its apps, and from no other company’s', async () => {
    const one = await flow.createTenant()
    const [two, other] = [await flow.createTenant({}, one.company), await flow.createTenant()]
    const to = freshNumber()
    for (const { server } of [one, two, other]) expect((await server.send(to)).status).to.equal(200)
    await flow.waitForCode(to, 3)
    const erased = await flow.admin('POST', `/companies/${one.company}/erase`, { recipient: to })
    expect([erased.status, erased.body.verifications, erased.body.ended], erased.text).to.deep.equal([200, 2, 2])
    const found = async (app: string) =>
      (await flow.admin('GET', `/apps/${app}/verifications?recipient=${encodeURIComponent(to)}`)).body.items.length
    expect([await found(one.app), await found(two.app), await found(other.app)]).to.deep.equal([0, 0, 1])
    const again = await flow.admin('POST', `/companies/${one.company}/erase`, { recipient: to })
    expect(again.body).to.deep.equal(NOTHING)

    const { items, text } = await flow
      .admin('GET', `/audit?company_id=${one.company}`)
      .then(({ body, text }) => ({ items: body.items as { action: string; target: string; after: object }[], text }))
    expect(text).not.to.include(to)
    const erasures = items.filter(({ action }) => action === 'recipient.erase')
    expect(erasures.map(({ target }) => target)).to.deep.equal([one.company, one.company])
    expect(erasures[0]?.after, 'the same person').to.deep.equal(erasures[1]?.after)
    const lookups = items.filter(({ action }) => action === 'recipient.look_up')
    expect(lookups.map(({ target }) => target)).to.have.members([one.app, two.app])
    expect(lookups[0]?.after).to.have.keys('list', 'recipient')
  })

  it('removes all data of the recipient in both modes, counts what it removed, and leaves other recipients alone', async () => {
    const shop = await flow.createTenant({ resend_cooldown_seconds: [0] })
    const box = { channel: 'sms', type: 'sandbox', config: {} }
    expect((await flow.admin('PUT', `/apps/${shop.app}/providers/box`, box)).status).to.be.oneOf([200, 201])
    const live = await flow.createKey(shop.app, 'server', 'live')
    await flow.advance(CACHE_TTL_MS)
    const [to, other] = [freshNumber(), freshNumber()]
    const approved = (await shop.server.send(to, { client_ip: '81.2.69.142' })).body.otp_id
    const code = await flow.waitForCode(to)
    await shop.server.verify(approved, wrongCode(code))
    expect((await shop.server.verify(approved, code)).body.matched).to.equal(true)
    const pending = (await shop.server.send(to)).body.otp_id
    await flow.waitForCode(to, 2)
    expect((await shop.server.resend(pending, 'telegram')).status).to.equal(200)
    const paid = (await live.send(to)).body.otp_id
    await flow.waitForCode(to, 4)
    const fromDevice = (await shop.device.send(to)).body.otp_id
    await flow.waitForCode(to, 5)
    const kept = (await shop.server.send(other)).body.otp_id
    const keptCode = await flow.waitForCode(other)
    const { store } = flow.countersign.engines
    for (const index of indexesOf(shop.app, to))
      expect(await collectionsContaining(store, index), index).to.not.deep.equal([])
    await flow.eventually(async () => expect(await flow.events(shop.app)).to.have.length.at.least(4))

    const { status, body } = await erase(shop.app, to)
    expect(status).to.equal(200)
    expect(body).to.deep.include({ verifications: 4, ended: 3, messages: 5, decisions: 0 })
    // Sends and messages of servers in both modes, and of devices in test mode, and wrong codes in test mode.
    expect(body.counters).to.equal(4)

    for (const otp_id of [approved, pending, paid, fromDevice]) {
      expect(await collectionsContaining(store, otp_id), otp_id).to.deep.equal(['events'])
      expect((await flow.admin('GET', `/verifications/${otp_id}`)).status).to.equal(404)
    }
    for (const text of [to, to.slice(2)]) expect(await collectionsContaining(store, text), text).to.deep.equal([])
    await expectJournaledAlone(shop.app, to)
    expect((await shop.server.status(approved)).status).to.equal(404)
    expect((await shop.server.resend(pending)).status).to.equal(404)
    expect(await flow.inbox(to)).to.deep.equal([])

    expect((await shop.server.verify(kept, keptCode)).body.matched).to.equal(true)
    expect(await flow.inbox(other)).to.have.length(1)
    // The resend above was counted before it was refused, and the fraud guard stores what it saw a little later.
    await flow.eventually(async () => expect((await erase(shop.app, to)).body).to.deep.equal(NOTHING))
    expect((await shop.server.send(to)).status).to.equal(200)
  })

  it('erases the counters of wrong codes, by every kind of key that started and that guessed', async () => {
    const shop = await flow.createTenant({ limits: { recipient_verify: [{ max: 1, seconds: 3600 }] } })
    const to = freshNumber()
    const { store } = flow.countersign.engines
    // The second wrong code is a first guess beyond the limit, which has a counter of its own.
    for (const starter of [shop.server, shop.device])
      for (const by of [shop.server, shop.device])
        for (let nth = 0; nth < 2; nth += 1) await by.verify((await starter.send(to)).body.otp_id, '0000000')
    const indexes = indexesOf(shop.app, to)
    const guesses = async () =>
      (await rawDocuments(store, 'counters')).filter(
        doc => /:(first_)?guesses:/.test(doc) && indexes.some(index => doc.includes(index)),
      )
    expect(await guesses()).to.have.length(6)
    await erase(shop.app, to)
    expect(await guesses()).to.deep.equal([])
  })

  it('ends pending verifications: their links fetch no code, and their tokens prove nothing', async () => {
    const chat = await flow.createTenant({ ...LINKS, routing: { default: ['whatsapp', 'sms'] } })
    const to = freshNumber()
    const { body } = await chat.server.send(to)
    const text = new URL(body.action_url).searchParams.get('text') ?? ''
    const device = await chat.device.send(to)
    const deviceText = new URL(device.body.action_url).searchParams.get('text') ?? ''
    await flow.admin('POST', '/sandbox/inbound', { app_id: chat.app, from: to, text: deviceText })
    const verified = await chat.device.verify(device.body.otp_id, await flow.waitForCode(to))
    expect(verified.body.verification_token).to.be.a('string')
    expect((await erase(chat.app, to)).body).to.deep.include({ verifications: 2, ended: 1 })
    await flow.admin('POST', '/sandbox/inbound', { app_id: chat.app, from: to, text })
    const logLines = () =>
      flow.countersign.log
        .output()
        .split('\n')
        .filter(line => line.includes(chat.app))
    await flow.eventually(() => expect(logLines().filter(line => line.includes('unknown_reference'))).to.have.length(1))
    expect(await flow.inbox(to)).to.deep.equal([])
    expect((await chat.server.exchange(verified.body.verification_token)).status).to.equal(404)
  })

  it('counts each verification once while sends to the recipient continue', async () => {
    const shop = await flow.createTenant({ limits: { recipient: [{ max: 100, seconds: 600 }] } })
    const to = freshNumber()
    const sends = Array.from({ length: 20 }, () => shop.server.send(to))
    const reports = await Promise.all(Array.from({ length: 5 }, () => erase(shop.app, to)))
    const accepted = (await Promise.all(sends)).filter(({ status }) => status === 200)
    expect(accepted).to.have.length(20)
    reports.push(await erase(shop.app, to))
    const erased = reports.reduce((sum, { body }) => sum + body.verifications, 0)
    expect(erased).to.equal(20)
    await flow.eventually(async () => {
      await erase(shop.app, to)
      await expectJournaledAlone(shop.app, to)
    })
  })

  it('finds an email address in any spelling, and refuses an unknown app and a request without a recipient', async () => {
    const shop = await flow.createTenant()
    await shop.server.send('Ada.Lovelace@Example.com')
    const arrived = await flow.eventually(async () => {
      const inbox = await flow.inbox('Ada.Lovelace@Example.com')
      expect(inbox).to.have.length(1)
      return inbox[0]?.delivery_id ?? ''
    })
    // A message that arrives after its verification was erased leaves such a document.
    const left = (await flow.countersign.engines.store.docs('sandbox_messages').get([arrived])).get(arrived)
    if (left) await flow.countersign.engines.store.docs('sandbox_messages').insert([{ ...left, _id: 'dlv_late' }])
    expect((await erase(shop.app, 'ada.lovelace@EXAMPLE.com')).body).to.include({ verifications: 1 })
    expect(await collectionsContaining(flow.countersign.engines.store, 'dlv_late')).to.deep.equal([])
    expect((await erase('app_unknown', '+14155550123')).status).to.equal(404)
    expect((await flow.admin('POST', `/apps/${shop.app}/erase`, {})).status).to.equal(422)
  })
})

// A data subject asks for erasure: an operator names a recipient and an app, and the store keeps nothing that identifies the recipient.
import { expect } from 'chai'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { recipientIndexes, sandboxIndexes } from '../../services/domain/verifications/lookup-indexes.ts'
import type { Answer } from '../support/api-caller.ts'
import { freshNumber } from '../support/flow.ts'
import { collectionsContaining, rawDocuments } from '../support/raw-documents.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

describeFlow('an erasure of a recipient', (flow, engines) => {
  const itOnce = itOnceOf(engines)
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

  itOnce('of a company removes the recipient from all its apps, and from no other company’s', async () => {
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
    await flow.admin('POST', `/companies/${one.company}/erase`, { recipient: to })

    const { items, text } = await flow
      .admin('GET', `/audit?company_id=${one.company}`)
      .then(({ body, text }) => ({ items: body.items as { action: string; target: string; after: object }[], text }))
    expect(text).not.to.include(to)
    const erasures = items.filter(({ action }) => action === 'recipient.erase')
    expect(erasures.map(({ target }) => target)).to.deep.equal([one.company, one.company])
    expect(erasures[0]?.after, 'the same person').to.deep.equal(erasures[1]?.after)
  })

  itOnce('erases the counters of wrong codes, by every kind of key that started and that guessed', async () => {
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

  itOnce('finds an email address in any spelling, and refuses an unknown app', async () => {
    const shop = await flow.createTenant()
    await shop.server.send('Ada.Lovelace@Example.com')
    await flow.waitForCode('Ada.Lovelace@Example.com')
    const arrived = (await flow.inbox('Ada.Lovelace@Example.com'))[0]?.delivery_id ?? ''
    // A message that arrives after its verification was erased leaves such a document.
    const left = (await flow.countersign.engines.store.docs('sandbox_messages').get([arrived])).get(arrived)
    if (left) await flow.countersign.engines.store.docs('sandbox_messages').insert([{ ...left, _id: 'dlv_late' }])
    expect((await erase(shop.app, 'ada.lovelace@EXAMPLE.com')).body).to.include({ verifications: 1 })
    expect(await collectionsContaining(flow.countersign.engines.store, 'dlv_late')).to.deep.equal([])
    expect((await erase('app_unknown', '+14155550123')).status).to.equal(404)
  })
})

// The export of a recipient: what it leaves out, how much of it is in memory, and that a company has one at a time. That it shows what an
// erasure finds is in test/flow/erased-traces.test.ts.
import { expect } from 'chai'
import { newId } from '../../../../infra/ids.ts'
import { personJson } from '../../../../services/dashboard/privacy/person-export.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { createGate } from '../../../support/gate.ts'
import { startOtpActor } from '../../../support/otp.actor.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

const NUMBER = '+447911123456'
const LISTS = [
  'verifications',
  'sandbox_messages',
  'refusals',
  'counters',
  'fraud_decisions',
  'fraud_histories',
  'fraud_blocks',
  'recipient_rules',
  'erasures',
]

onEmbeddedStore('an export of a recipient', fresh => {
  let store: CountersignStore
  let admin: TestAdmin
  let owner: { company: string; app: string }
  beforeEach(async () => {
    store = await fresh()
    admin = await startAdmin(store)
    owner = await createTenant(admin)
  })
  afterEach(closeAdmins)

  const exportBy = (by: TestAdmin, recipient = NUMBER) => by.ask('POST', `/apps/${owner.app}/export`, { recipient })
  async function send(recipient = NUMBER, app = owner.app): Promise<OtpDoc> {
    const actor = await startOtpActor(store, admin.keyring)
    const { otp_id } = await actor.send({ company: owner.company, app, recipient })
    await actor.close()
    return (await store.docs('otps').get([otp_id])).get(otp_id) as OtpDoc
  }

  it('is a file with every list, empty where nothing is kept', async () => {
    await send('+447911123499')
    const { status, headers, body } = await exportBy(admin)
    expect(status).to.equal(200)
    expect(headers.get('content-disposition')).to.match(/^attachment; filename="person-2030-01-\d\d\.json"$/)
    const { app_id, recipient, exported_at, ...lists } = body
    expect([app_id, recipient]).to.deep.equal([owner.app, NUMBER])
    expect(lists).to.deep.equal(Object.fromEntries(LISTS.map(list => [list, []])))
  })

  it('finds the recipient in every spelling, in this app alone, and is no part of a closed one’s end', async () => {
    const { otp_id } = (await send()).context
    const other = await createTenant(admin)
    await send(NUMBER, other.app)
    await admin.ask('PATCH', `/apps/${owner.app}`, { closed: true })
    for (const spelling of [NUMBER, NUMBER.slice(1), '+44 (7911) 123456']) {
      const { body } = await exportBy(admin, spelling)
      expect(body.recipient, spelling).to.equal(NUMBER)
      expect(body.verifications).to.have.length(1)
      expect(body.verifications[0]).to.include({ otp_id, recipient: NUMBER })
    }
    expect((await exportBy(admin, '020 7946 0801')).status).to.equal(422)
  })

  it('has no sealed text, keyed index, hash or salt', async () => {
    const doc = await send()
    await admin.ask('POST', `/apps/${owner.app}/export`, { recipient: NUMBER })
    const text = JSON.stringify((await exportBy(admin)).body)
    const { recipient, code } = doc.context
    const hidden = [recipient.sealed, recipient.index, ...('salt' in code ? [code.salt, code.secret] : [])]
    for (const one of hidden) expect(text).not.to.include(one)
    expect(text).not.to.match(/v1\.[\w-]+\.[\w-]+/)
  })

  it('is in the audit log, with the fingerprint that an erasure of the recipient has', async () => {
    // Entries sort by time.
    await admin.clock.advance(1)
    await exportBy(admin)
    await admin.clock.advance(1)
    await admin.ask('POST', `/apps/${owner.app}/erase`, { recipient: NUMBER })
    const [erasure, ...items] = (await admin.get('/audit')).body.items
    expect(items[0]).to.deep.include({ action: 'recipient.export', target: owner.app, outcome: 'done' })
    expect(items[0].after).to.deep.equal({ recipient: erasure.after.recipient })
    expect(JSON.stringify(items)).not.to.include(NUMBER)
  })

  it('is one at a time in a company', async () => {
    const [first, held] = [createGate(), createGate()]
    const slow = await startAdmin(
      interceptWrites(store, {
        async before(call) {
          if (call !== 'audit.modify') return
          first.release()
          await held.released
        },
      }),
    )
    const answer = exportBy(slow)
    await first.released
    expect((await exportBy(slow)).status).to.equal(409)
    const elsewhere = (await createTenant(admin)).app
    const others = slow.ask('POST', `/apps/${elsewhere}/export`, { recipient: NUMBER })
    held.release()
    expect([(await answer).status, (await others).status, (await exportBy(slow)).status]).to.deep.equal([200, 200, 200])
  })

  it('reads a page of verifications when the one before was taken', async () => {
    const template = await send()
    const copies = Array.from({ length: 1_199 }, (_, nth) => ({
      ...template,
      _id: newId('otp', template.created_at + nth),
    }))
    for (let at = 0; at < copies.length; at += 500) await store.docs('otps').insert(copies.slice(at, at + 500))
    const docs = store.docs('otps')
    let pages = 0
    const counting: CountersignStore = {
      ...store,
      docs: ((name: 'otps') =>
        name === 'otps'
          ? {
              ...docs,
              find: (...args: Parameters<typeof docs.find>) => {
                pages += 1
                return docs.find(...args)
              },
            }
          : store.docs(name)) as CountersignStore['docs'],
    }
    const { keyring, clock } = admin
    const parts = personJson({ store: counting, keyring, clock }, { app_id: owner.app, recipient: NUMBER })
    for (let taken = 0; taken < 10; taken += 1) await parts.next()
    expect(pages).to.equal(1)
    let length = 0
    for await (const part of parts) length += part.split('"kind":"verification"').length - 1
    expect(pages).to.equal(3)
    expect(length).to.be.above(1_190)
  })
})

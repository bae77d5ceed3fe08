// The journal of erasures: what it says of an erasure, and that it erases again what a restored backup brought back, and
// no more than that. With real backups it is tried in test/faults/processes/backup.test.ts.
import { expect } from 'chai'
import { DAY_MS, HOUR_MS } from '../../../../infra/time.ts'
import { ZERO_COUNTS } from '../../../../services/dashboard/privacy/erase-recipient.ts'
import { replayErasures } from '../../../../services/dashboard/privacy/erasure-journal.ts'
import { allRecipientIndexes } from '../../../../services/dashboard/recipients.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { testClock } from '../../../support/clock.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { collectionNames } from '../../../support/raw-documents.ts'
import { eachStore } from '../../../support/stores.ts'

const [NUMBER, OTHER] = ['+447911123456', '+447911123457']
const LINES = { headers: { 'Content-Type': 'application/x-ndjson' } }

eachStore('the journal of erasures', fresh => {
  let store: CountersignStore
  let admin: TestAdmin
  let actor: TestActor
  let owner: { company: string; app: string }
  beforeEach(async () => {
    store = await fresh()
    actor = await startOtpActor(store)
    admin = await startAdmin(store, { clock: actor.clock })
    owner = await createTenant(admin)
  })
  afterEach(async () => {
    await closeAdmins()
    await actor.close()
  })
  const send = async (recipient: string) => (await actor.send({ ...owner, recipient })).otp_id
  const erase = (recipient: string, path = `/apps/${owner.app}/erase`) => admin.ask('POST', path, { recipient })
  const exported = async (query = ''): Promise<string> => (await admin.get(`/erasures${query}`)).body
  const replay = (raw: string) => admin.ask('POST', '/erasures/replay', undefined, { raw, ...LINES })
  const linesOf = (journal: string) =>
    journal
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line))
  const stored = async () => (await store.docs('otps').find({}, { sort: { _id: 1 }, limit: 100 })).map(({ _id }) => _id)

  /** Everything but the audit log; what is answered puts it back, in place of what is there then. */
  async function backUp(): Promise<() => Promise<void>> {
    const page = { sort: { _id: 1 }, limit: 10_000 } as const
    const names = collectionNames.filter(name => name !== 'audit')
    const copies = await Promise.all(names.map(async name => [name, await store.docs(name).find({}, page)] as const))
    return async () => {
      for (const [name, docs] of copies) {
        await store.docs(name).remove({ _id: { $gt: '' } }, 10_000)
        if (docs.length > 0) await store.docs(name).insert(docs as never[])
      }
    }
  }

  it('has a line for each index of an erased recipient, in every app, and is read from a time on', async () => {
    const second = (await admin.ask('POST', `/companies/${owner.company}/apps`, { name: 'Second' })).body.id
    const first = actor.clock.now()
    await erase(NUMBER)
    await actor.clock.advance(1_000)
    await erase(OTHER, `/companies/${owner.company}/erase`)
    const lines = (at: number, recipient: string, ...apps: string[]) =>
      apps.flatMap(app_id =>
        allRecipientIndexes(admin.keyring, app_id, recipient).map(index => ({
          app_id,
          index,
          at: new Date(at).toISOString(),
        })),
      )
    const later = lines(first + 1_000, OTHER, owner.app, second)
    expect(linesOf(await exported())).to.have.deep.members([...lines(first, NUMBER, owner.app), ...later])
    const since = new Date(first + 1_000).toISOString()
    expect(linesOf(await exported(`?since=${since}`))).to.have.deep.members(later)
    const [record] = (await admin.get('/audit?action=erasures.export')).body.items
    expect(record).to.include({ target: 'erasures', company_id: null, outcome: 'done' })
  })

  it('erases again what a backup brought back, and nothing that was made since or is of others', async () => {
    const [old, other] = [await send(NUMBER), await send(OTHER)]
    const restore = await backUp()
    // A window of a day counts in parts of 2.4 hours.
    await actor.clock.advance(3 * HOUR_MS)
    expect((await erase(NUMBER)).body).to.include({ verifications: 1, counters: 1 })
    const journal = await exported()
    await restore()
    expect(await stored()).to.have.members([old, other])

    const { status, body } = await replay(journal)
    expect([status, body], JSON.stringify(body)).to.deep.equal([
      200,
      { entries: 2, replayed: 2, next_line: null, erased: { ...ZERO_COUNTS, verifications: 1, counters: 1 } },
    ])
    expect(await stored()).to.deep.equal([other])
    expect(await exported(), 'the next backup has the lines too').to.equal(journal)
    const [record] = (await admin.get('/audit?action=erasures.replay')).body.items
    expect(record).to.include({ target: 'erasures', company_id: null, outcome: 'done' })
    expect(record.after).to.deep.include({ entries: 2, replayed: 2 })

    await actor.clock.advance(DAY_MS)
    const back = await send(NUMBER)
    const counters = () => store.docs('counters').find({}, { sort: { _id: 1 }, limit: 10 })
    const before = await counters()
    expect((await replay(journal)).body.erased).to.deep.equal(ZERO_COUNTS)
    expect(await stored()).to.have.members([other, back])
    expect(await counters(), 'with that of the person who came back').to.deep.equal(before)
  })

  it('is refused with the lines that are wrong, and then erases nothing', async () => {
    const otp_id = await send(NUMBER)
    await actor.clock.advance(1)
    const index = allRecipientIndexes(admin.keyring, owner.app, NUMBER)
    const line = (at: unknown, more = {}) => JSON.stringify({ app_id: owner.app, index: index[1], at, ...more })
    const now = new Date(actor.clock.now())
    const { status, body } = await replay(
      [
        line(now.toISOString()),
        '',
        '{"app_id": ',
        line('yesterday'),
        line(now.toISOString(), { recipient: NUMBER }),
        line(new Date(now.getTime() + 60_000).toISOString()),
      ].join('\n'),
    )
    expect([status, body.type]).to.deep.equal([422, 'ValidationError'])
    expect(body.errors.map(({ path, message }: Record<string, string>) => `${path} ${message}`)).to.deep.equal([
      'line 3 is not JSON: it ends too early, at column 12',
      'line 4 at must be a time, such as "2030-01-31T12:00:00Z"',
      'line 5 recipient is not known',
      'line 6 at must not be in the future: what is made until then would be erased',
    ])
    expect((await admin.ask('POST', '/erasures/replay', {})).status, 'JSON').to.equal(415)
    expect((await replay(`${line(now.toISOString())}\n`.repeat(9_000))).status).to.equal(413)
    expect(await stored()).to.deep.equal([otp_id])
  })

  it('is replayed in calls that end after a while and say where the next one begins', async () => {
    const clock = testClock(actor.clock.now())
    const erased: string[] = []
    const eraseIndexed = async ({ indexes }: { indexes: readonly string[] }) => {
      erased.push(...indexes)
      await clock.advance(9_000)
      return { ...ZERO_COUNTS, verifications: 1 }
    }
    // An entry of long ago would be purged at once.
    const at = clock.now()
    const lines = ['a', 'b', 'c', 'd'].map((index, nth) => ({
      line: 2 * nth + 1,
      value: { app_id: owner.app, index, at },
    }))
    const one = await replayErasures({ store, clock, eraseIndexed }, lines)
    expect(one).to.deep.include({ entries: 4, replayed: 3, next_line: 7 })
    expect(one.erased.verifications).to.equal(3)
    expect(await store.docs('erasures').count({ _id: { $gt: '' } }), 'stored before any is erased').to.equal(4)
    const rest = await replayErasures({ store, clock, eraseIndexed }, lines.slice(3))
    expect(rest).to.deep.include({ entries: 1, replayed: 1, next_line: null })
    expect(erased).to.deep.equal(['a', 'b', 'c', 'd'])
  })
})

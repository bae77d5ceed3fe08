// Erasing a recipient: money, events, decisions of the fraud guard, races and crashes. The whole pipeline is in test/flow/erase.test.ts.

import { expect } from 'chai'
import { newId } from '../../../../infra/ids.ts'
import { HOUR_MS } from '../../../../infra/time.ts'
import { MODES, type Mode } from '../../../../machines/otp.ts'
import { createErasures } from '../../../../services/dashboard/privacy/erase-recipient.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import type { DecisionDoc } from '../../../../services/domain/fraud/documents.ts'
import { blockId, blockTags } from '../../../../services/domain/fraud/numbers.ts'
import { createAccounts } from '../../../../services/domain/money/accounts.ts'
import { type Entry, keepHoldEntry } from '../../../../services/domain/money/documents.ts'
import type { RefusalDoc } from '../../../../services/domain/refusals/documents.ts'
import { refusedRecipientIndexes } from '../../../../services/domain/refusals/refusal-log.ts'
import { type AttemptDoc, END_OF_ROUND } from '../../../../services/domain/verifications/documents.ts'
import { recipientIndexes } from '../../../../services/domain/verifications/lookup-indexes.ts'
import type { EventDoc } from '../../../../services/domain/webhooks/documents.ts'
import { createStatsSweeps } from '../../../../services/sweeper/stats.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { eventually } from '../../../support/eventually.ts'
import { hold as testHold } from '../../../support/money.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { collectionsContaining } from '../../../support/raw-documents.ts'
import { eachStore } from '../../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../../support/tenancy.ts'

const NUMBER = '+447911123456'
const FAR = new Date(2 ** 42)
const APPROVAL = { at: 1, by: { key_id: 'key_1', kind: 'server' }, generation: 1, channel: 'sms' } as const

eachStore('erasing a recipient', fresh => {
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
  const send = async (recipient = NUMBER) => (await actor.send({ ...owner, recipient })).otp_id
  const otp = async (id: string) => (await store.docs('otps').get([id])).get(id)
  const erase = async (recipient = NUMBER) => (await admin.ask('POST', `/apps/${owner.app}/erase`, { recipient })).body

  const entered = { enter: async () => 'entered' as const }
  /** The erasures of a process with this store. */
  const erasuresOn = (
    of: CountersignStore,
    accounts: Parameters<typeof createErasures>[0]['accounts'] = entered,
    keyring = testKeyring(),
  ) => createErasures({ store: of, keyring, clock: actor.clock, accounts })

  const refuse = async (mode: Mode, text: string): Promise<void> => {
    const [recipient = ''] = refusedRecipientIndexes(admin.keyring, { app_id: owner.app, mode }, text)
    const refusal: RefusalDoc = {
      _id: newId('rfs', 0),
      app_id: owner.app,
      company_id: owner.company,
      mode,
      key_id: 'key_a',
      at: 0,
      request_id: null,
      type: 'GeoBlockedError',
      scope: null,
      country: 'GB',
      masked: '+44****56',
      recipient,
      purge_at: FAR,
    }
    await store.docs('refusals').insert([refusal])
  }

  /** Stores a decision of the fraud guard about a send that was refused; answers the index of its recipient. */
  async function decide(): Promise<string> {
    const [recipient = ''] = recipientIndexes(admin.keyring, { app_id: owner.app, mode: 'live' }, NUMBER)
    const decision: DecisionDoc = {
      _id: newId('frd', 0),
      app_id: owner.app,
      company_id: owner.company,
      mode: 'live',
      at: 0,
      enforced: true,
      outcome: 'refused',
      channel: null,
      verdict: 'refuse',
      score: 100,
      reasons: [],
      otp_id: 'otp_never',
      recipient,
      masked: '+44****56',
      country: 'GB',
      unrecorded: 0,
      purge_at: FAR,
    }
    await store.docs('fraud_decisions').insert([decision])
    return recipient
  }

  /** Erases the recipient; answers what is entered for the messages, in order. */
  async function entriesOfErasure(): Promise<string[]> {
    const entries: string[] = []
    const enter = async (_: string, { kind, micros }: Entry) => void entries.push(`${kind} ${micros}`) as never
    await erasuresOn(store, { enter }).eraseRecipient(owner.app, NUMBER)
    return entries
  }

  // Each is tried on a message that costs 500; `resent`: and another that was sent before and brought the code.
  const APPROVED = { 'context.approval': APPROVAL, value: 'approved' }
  const called = (result: string | null, provider = 'meta') => ({ provider, result })
  const charges: [what: string, changed: object, attempts: object[], entries: string[]][] = [
    ['entered, and still queued', { ...APPROVED, of: { status: 'queued' } }, [], ['void 0']],
    ['entered after a failure', { ...APPROVED, of: { status: 'failed', charge: 'kept' } }, [], ['void 0']],
    [
      'entered after a refund',
      { ...APPROVED, of: { status: 'failed', charge: 'again' } },
      [],
      ['refund 500', 'recharge -500'],
    ],
    ['that was delivered', { of: { status: 'delivered' } }, [], ['void 0']],
    ['never called for', {}, [], ['refund 500']],
    ['with a call under way', {}, [called(null)], ['void 0']],
    ['with an unclear answer', {}, [called('unknown')], ['void 0']],
    ['that a provider took', {}, [called('accepted')], ['void 0']],
    ['that every provider refused', {}, [called('failed')], ['refund 500']],
    ['resent, and never called for', { ...APPROVED, resent: true }, [], ['void 0', 'refund 500']],
    [
      'resent, and taken by none in a round',
      { ...APPROVED, resent: true },
      [called('failed'), called(null, END_OF_ROUND)],
      ['void 0', 'refund 500'],
    ],
    ['resent, with a call under way', { ...APPROVED, resent: true }, [called(null)], ['void 0', 'void 0']],
    ['resent, with an unclear answer', { ...APPROVED, resent: true }, [called('unknown')], ['void 0', 'void 0']],
  ]
  for (const [what, changed, attempts, entries] of charges)
    it(`enters ${entries.join(' and ')} for a message ${what}`, async () => {
      const { of = {}, resent = false, ...rest } = changed as { of?: object; resent?: boolean }
      const id = await send()
      const first = { ...(await otp(id))?.context.deliveries[0], ...of, micros: 500 }
      const again = { ...first, delivery_id: 'dlv_resent', status: 'queued' }
      const deliveries = resent ? [{ ...first, status: 'delivered' }, again] : [first]
      await store.docs('otps').modify({ _id: id }, { $set: { ...rest, 'context.deliveries': deliveries } as never })
      const { delivery_id = '' } = resent ? again : first
      const docs = attempts.map((one, nth) => ({
        ...one,
        _id: `${delivery_id}:${nth}`,
        delivery_id,
        otp_id: id,
        rev: 1,
      }))
      await store.docs('attempts').insert(docs as unknown as AttemptDoc[])
      expect(await entriesOfErasure()).to.deep.equal(entries)
    })

  for (const hours of [0, 2])
    it(`decides once whether a message that waited for ${hours} hours is refunded, also when it is cut off and repeated`, async () => {
      const id = await send()
      const delivery = { ...(await otp(id))?.context.deliveries[0], micros: 500 }
      const deliveries = [
        { ...delivery, status: 'delivered' },
        { ...delivery, delivery_id: 'dlv_called', status: 'queued' },
        { ...delivery, delivery_id: 'dlv_waiting', status: 'queued' },
      ]
      const changed = { 'context.deliveries': deliveries, 'context.approval': APPROVAL, value: 'approved' }
      await store.docs('otps').modify({ _id: id }, { $set: changed as never })
      const attempt = {
        _id: 'dlv_called:meta',
        delivery_id: 'dlv_called',
        otp_id: id,
        provider: 'meta',
        result: 'unknown',
      }
      await store.docs('attempts').insert([{ ...attempt, rev: 1 } as unknown as AttemptDoc])
      const accounts = createAccounts({ store, clock: actor.clock, log: createCapturedLog().log })
      await accounts.enter(owner.company, {
        ...keepHoldEntry('', 'x'),
        entry: 'credit:x',
        kind: 'credit',
        micros: 1_500,
      })
      for (const { delivery_id = '' } of deliveries) await accounts.enter(owner.company, testHold(id, delivery_id, 500))
      await actor.clock.advance(hours * HOUR_MS)
      const cutOff = interceptWrites(store, {
        before(write) {
          if (write === 'otps.remove') throw new Error('killed')
        },
      })
      for (const each of [cutOff, store]) {
        const { eraseRecipient } = erasuresOn(each, accounts)
        await eraseRecipient(owner.app, NUMBER).catch(({ message }: Error) => expect(message).to.equal('killed'))
        expect(await accounts.balance(owner.company), 'the price of the one that waited').to.equal(500)
      }
      expect(await otp(id)).to.equal(undefined)
      await accounts.settled()
    })

  it('leaves what was counted for statistics, also when the hour would be counted again', async () => {
    await send()
    await send('+447911123457')
    await actor.clock.advance(5_000)
    const row = async () => (await admin.get(`/apps/${owner.app}/stats`)).body.items.at(-1)
    await eventually(async () => expect(await row()).to.include({ started: 2 }))
    await erase()
    const sweep = createStatsSweeps({ store, clock: actor.clock, log: createCapturedLog().log }).stats
    await store
      .docs('otps')
      .modify(
        { _id: (await store.docs('otps').find({}, { sort: {}, limit: 1 }))[0]?._id ?? '' },
        { $set: { value: 'expired' } },
      )
    const since = new Date(actor.clock.now()).toISOString()
    await actor.clock.advance(6 * HOUR_MS)
    for (let runs = 0; runs < 40; runs += 1) {
      await sweep?.([0])
      await actor.clock.advance(10_000)
    }
    const [progress] = await store.docs('stats_progress').find({}, { sort: {}, limit: 1 })
    expect(progress?.next_hour).to.be.greaterThan(Date.parse(since))
    expect((await admin.get(`/apps/${owner.app}/stats?since=${since}`)).body.items[0]).to.include({ started: 2 })
  })

  it('keeps webhook events, and erases the endpoint’s answers to them', async () => {
    const [id, other] = [await send(), await send('+447911123457')]
    const eventOf = (otp_id: string): EventDoc => ({
      _id: newId('evt', 0),
      app_id: owner.app,
      company_id: owner.company,
      mode: 'test',
      type: 'otp.approved',
      payload: { otp_id, status: 'approved' },
      created_at: 0,
      purge_at: FAR,
      rev: 1,
      status: 'delivered',
      partition: 0,
      round: 1,
      tries: 1,
      attempts: [{ round: 1, attempt: 1, at: 0, ms: 1, status: 200, error: null, sealed_response: `thanks ${otp_id}` }],
    })
    await store.docs('events').insert([eventOf(id), eventOf(other)])
    expect(await erase()).to.include({ verifications: 1, events: 1 })
    const storedEvents = await store.docs('events').find({}, { sort: { _id: 1 }, limit: 10 })
    expect(storedEvents.filter(event => event.discard_answers).map(({ payload }) => payload.otp_id)).to.deep.equal([id])
    const { rev, attempts } = storedEvents.find(event => event.discard_answers) ?? {}
    expect(rev, 'a call that is under way is not taken for overtaken, and made again').to.equal(1)
    expect(attempts).to.deep.equal(eventOf(id).attempts.map(attempt => ({ ...attempt, sealed_response: null })))
    expect(await collectionsContaining(store, `thanks ${id}`)).to.deep.equal([])
    expect(await collectionsContaining(store, `thanks ${other}`)).to.deep.equal(['events'])
    expect(await collectionsContaining(store, id)).to.deep.equal(['events'])
  })

  it('erases refusals without a verification, also those of a text that is no recipient', async () => {
    for (const text of [NUMBER, '+44 7911 12', '+447911999999']) for (const mode of MODES) await refuse(mode, text)
    expect(await erase()).to.include({ verifications: 0, refusals: 2 })
    const { body } = await admin.ask('POST', `/apps/${owner.app}/erase`, { recipient: '+44 7911 12' })
    expect(body).to.include({ refusals: 2 })
    expect(await store.docs('refusals').count({ app_id: owner.app })).to.equal(2)
  })

  it('erases decisions of the fraud guard without a verification, and attempts of approval replies', async () => {
    const id = await send()
    const recipient = await decide()
    const call = { otp_id: id, app_id: owner.app, provider: 'meta', round: 1, at: 0, purge_at: FAR, rev: 1 }
    const approvalAttempt = {
      ...call,
      channel: 'whatsapp' as const,
      _id: `${id}:approved:meta`,
      delivery_id: `${id}:approved`,
      result: null,
      reference: 'x',
    }
    await store.docs('attempts').insert([approvalAttempt])
    expect(await erase()).to.include({ decisions: 1, attempts: 1 })
    expect(await collectionsContaining(store, recipient)).to.deep.equal(['erasures'])
    expect(await collectionsContaining(store, id)).to.deep.equal([])
  })

  it('removes a number from its block while processes add to the block, and keeps the other numbers', async () => {
    const appModes = (['live', 'test'] as const).flatMap(mode =>
      (['server', 'publishable'] as const).map(kind => ({ app_id: owner.app, mode, kind })),
    )
    const blocks = store.docs('fraud_blocks')
    const numbers = (appMode: (typeof appModes)[number]) =>
      [NUMBER, '+447911123457'].map(number => ({
        ...blockTags(admin.keyring, appMode, number),
        at: 0,
        verified: false,
      }))
    const idOf = (appMode: (typeof appModes)[number]) => blockId(admin.keyring, appMode, NUMBER)
    await blocks.insert(
      appModes.map(appMode => ({
        _id: idOf(appMode),
        app_id: owner.app,
        state: { numbers: numbers(appMode) },
        purge_at: FAR,
        rev: 1,
      })),
    )
    let changes = 0
    const racingStore = interceptWrites(store, {
      async before(call) {
        if (call !== 'fraud_blocks.change' || changes++ > 0) return
        for (const appMode of appModes) await blocks.modify({ _id: idOf(appMode) }, { $inc: { rev: 1 } })
      },
    })
    expect(await erasuresOn(racingStore).eraseRecipient(owner.app, NUMBER)).to.include({ blocks: 4 })
    expect(changes).to.be.greaterThan(1)
    for (const appMode of appModes) {
      const [, other] = numbers(appMode)
      expect((await blocks.get([idOf(appMode)])).get(idOf(appMode))?.state.numbers).to.deep.equal([other])
    }
  })

  it('loads a verification again after a lost race, and then erases it, in any spelling of its number', async () => {
    const id = await send()
    let changes = 0
    const racingStore = interceptWrites(store, {
      async before(call) {
        if (call !== 'otps.change' || changes++ > 0) return
        await store.docs('otps').modify({ _id: id }, { $inc: { rev: 1 } })
      },
    })
    const report = await erasuresOn(racingStore).eraseRecipient(owner.app, '+44 (7911) 123-456')
    expect(report).to.include({ verifications: 1, ended: 1 })
    expect(changes).to.equal(2)
  })

  it('is completed by repeating it after a crash before any of its writes', async () => {
    const writes = new Set<string>()
    let wasKilled = true
    for (let nth = 1; wasKilled; nth += 1) {
      const sent = { ...owner, recipient: NUMBER, idempotency: `order ${nth}`, metadata: { order: String(nth) } }
      const id = (await actor.send(sent)).otp_id
      await refuse('test', NUMBER)
      await decide()
      let made = 0
      const crashingStore = interceptWrites(store, {
        before(write) {
          made += 1
          writes.add(write)
          // A process that was killed makes no further write either.
          if (made >= nth) throw new Error('killed')
        },
      })
      const died = await erasuresOn(crashingStore)
        .eraseRecipient(owner.app, NUMBER)
        .catch((error: Error) => error.message)
      wasKilled = died === 'killed'
      if (!wasKilled) expect(died).to.include({ verifications: 1, decisions: 1, refusals: 1, idempotency_keys: 1 })
      await erase()
      const before = `killed before write ${nth}`
      expect(await collectionsContaining(store, id), before).to.deep.equal([])
      expect(await store.docs('refusals').count({ app_id: owner.app }), before).to.equal(0)
      for (const mode of MODES)
        for (const index of recipientIndexes(admin.keyring, { app_id: owner.app, mode }, NUMBER))
          expect(await collectionsContaining(store, index), before).to.deep.equal(['erasures'])
    }
    expect([...writes][0], 'the journal comes first').to.equal('erasures.insert')
    const removed = [...writes].filter(write => write.endsWith('.remove')).sort()
    expect(removed).to.deep.equal([
      'attempts.remove',
      'claims.remove',
      'counters.remove',
      'fraud_decisions.remove',
      'metadata_indexes.remove',
      'otps.remove',
      'refusals.remove',
      'sandbox_messages.remove',
    ])
  })

  it('finds documents that were indexed with older data keys', async () => {
    await send()
    const { eraseRecipient } = erasuresOn(store, entered, testKeyring(2, 1))
    expect(await eraseRecipient(owner.app, NUMBER)).to.include({ verifications: 1, counters: 1 })
  })
})

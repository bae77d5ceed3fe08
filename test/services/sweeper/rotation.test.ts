// Rotation of DATA_KEYS without the rest of the sweeper: what is renewed, what is left, and what crashes and races do to it.
import { expect } from 'chai'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import type { Delivery } from '../../../machines/otp.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { ROTATION_ID, type RotationDoc } from '../../../services/domain/privacy/documents.ts'
import { answerText } from '../../../services/domain/privacy/event-answers.ts'
import { refusedPersonContext } from '../../../services/domain/refusals/documents.ts'
import { hookSecretContext, providerContext } from '../../../services/domain/tenancy/documents.ts'
import { createTenancy } from '../../../services/domain/tenancy/tenancy.ts'
import { findUsersByEmail, userContext } from '../../../services/domain/users/documents.ts'
import { CLAIM_HELD_MS, MAX_AGE_OF_TAKEN_OVER_ID_MS } from '../../../services/domain/verifications/claim-holds.ts'
import {
  atRest,
  idempotencyKeyContext,
  inboxCodeContext,
  inFlight,
} from '../../../services/domain/verifications/encryption-context.ts'
import {
  idempotencyIndexes,
  recipientIndexes,
  referenceIndex,
  sandboxIndex,
} from '../../../services/domain/verifications/lookup-indexes.ts'
import { type EventAttempt, eventAnswerContext } from '../../../services/domain/webhooks/documents.ts'
import { newEvent, newEventFields } from '../../../services/domain/webhooks/new-event.ts'
import { createWebhookSecret } from '../../../services/domain/webhooks/secrets.ts'
import { createRotationSweeps } from '../../../services/sweeper/rotation.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { issued } from '../../support/otp.ts'
import { addApp, sendCall, storedOtp } from '../../support/sent-otp.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../support/tenancy.ts'
import { addUser } from '../../support/users.ts'

const LINK = { mode: 'link_code', business_number: '+15550001111' }
const APP_MODE = { app_id: 'app_1', mode: 'test' } as const
const TO = '+14155550123'

eachStore('rotation of data keys', fresh => {
  const [before, during, after] = [testKeyring(1), testKeyring(2, 1), testKeyring(2)]
  let store: CountersignStore
  let clock: TestClock
  let actor: TestActor
  beforeEach(async () => {
    store = await fresh()
    clock = testClock()
    const settings = { channels: { whatsapp: LINK }, routing: { default: ['whatsapp'] } }
    await addApp(store)
    await addApp(store, settings, 'app_2')
    actor = await startOtpActor(store, before)
  })
  afterEach(() => actor.close())

  const send = async (app = 'app_1', recipient = TO): Promise<string> =>
    (await actor.send({ company: 'cmp_1', app, recipient })).otp_id
  const otp = (id: string) => storedOtp(store, id)
  const state = async (): Promise<RotationDoc | undefined> =>
    (await store.docs('rotations').get([ROTATION_ID])).get(ROTATION_ID)
  const sweeper = (keyring: Keyring = during, on = store) => {
    const captured = createCapturedLog()
    const deps = { store: on, keyring, clock, log: captured.log, metrics: createMetrics() }
    const rotate = createRotationSweeps(deps).rotation ?? (async () => 0)
    return { captured, metrics: deps.metrics, rotate: () => rotate([0]) }
  }
  const INBOX = 'app_1:inbox'
  const addInbox = (keyring: Keyring): Promise<unknown> => {
    const place = { app_id: 'app_1', name: 'inbox', channel: 'sms', type: 'sandbox', position: 0 } as const
    const config = keyring.seal('{}', providerContext(INBOX))
    return store.docs('providers').insert([{ _id: INBOX, ...place, config, rev: 1 }])
  }
  const rotateUntilDone = async (keyring: Keyring = during): Promise<RotationDoc> => {
    const { rotate } = sweeper(keyring)
    for (let runs = 0; runs < 50; runs += 1) {
      await rotate()
      const now = await state()
      if (now?.state === 'done') return now
    }
    throw new Error('it does not end')
  }
  /** Runs of a process that dies at the write. */
  const rotateAndDie = async (write: string, when: 'before' | 'after' = 'before'): Promise<void> => {
    const dying = interceptWrites(store, {
      [when]: (made: string) => made === write && Promise.reject(new Error('killed')),
    })
    const { rotate } = sweeper(during, dying)
    const run = (): Promise<unknown> => rotate().catch((error: Error) => error.message)
    for (let runs = 0; runs < 50; runs += 1) if ((await run()) === 'killed') return
    throw new Error(`nothing was made ${when === 'before' ? 'at' : 'by'} ${write}`)
  }

  it('renews the address, its index and the name of a user, who is found again, and nothing else', async () => {
    const user = await addUser(store, 'cmp_1', 'owner', before)
    const email = before.unseal(user.sealed_email, userContext.email(user._id))
    expect((await findUsersByEmail(store, during, email))[0]?._id).to.equal(user._id)
    expect((await rotateUntilDone()).renewed_in_all).to.equal(1)
    const [renewed] = await findUsersByEmail(store, after, email.toUpperCase())
    expect(renewed?.sealed_name && after.unseal(renewed.sealed_name, userContext.name(user._id))).to.be.a('string')
    const { email: index, sealed_email, sealed_name, rev, ...rest } = renewed ?? user
    expect(after.unseal(sealed_email, userContext.email(user._id))).to.equal(email)
    expect({ ...user, ...rest }).to.deep.equal(user)
    expect((await rotateUntilDone()).renewed_in_all).to.equal(1)
  })

  it('begins another pass when a process that was not restarted has stored a user, a config or a secret', async () => {
    await addInbox(after)
    await store
      .docs('webhooks')
      .insert([{ _id: 'app_1', url: 'https://x.example', status: 'active', secrets: [], rev: 1 }])
    const { rotate } = sweeper()
    const rotateUntilDoneAgain = async (): Promise<void> => {
      for (let runs = 0; runs < 50 && (await state())?.state !== 'done'; runs += 1) await rotate()
    }
    await rotateUntilDoneAgain()
    const change = async (what: 'providers' | 'webhooks' | 'apps', id: string, $set: object): Promise<void> =>
      void (await store.docs(what).modify({ _id: id }, { $set }))
    const secret = { endpoint_id: 'app_1', state: 'current', now: 0 } as const
    const writes: Record<string, () => Promise<unknown>> = {
      user: () => addUser(store, 'cmp_1', 'owner', before),
      config: () => change('providers', INBOX, { config: before.seal('{}', providerContext(INBOX)) }),
      webhook: () => change('webhooks', 'app_1', { secrets: [createWebhookSecret(before, 'whsec_1', secret)] }),
      hook: () =>
        change('apps', 'app_1', {
          hook_secrets: {
            supabase: { test: [before.seal('whsec_1', hookSecretContext('app_1', 'supabase', 'test'))] },
          },
        }),
    }
    for (const [what, write] of Object.entries(writes)) {
      await clock.advance(5 * 60_000)
      await rotate()
      expect((await state())?.state, `before the ${what}`).to.equal('done')
      await write()
      await clock.advance(5 * 60_000)
      await rotate()
      expect((await state())?.state, what).to.equal('running')
      await rotateUntilDoneAgain()
    }
    expect((await state())?.renewed_in_all).to.equal(4)
  })

  it('finds such a config among more than it looks through at once', async () => {
    const provider = (nth: number, keyring: Keyring) => {
      const [name, _id] = [`p${nth}`, `app_1:p${String(nth).padStart(4, '0')}`]
      const place = { app_id: 'app_1', name, channel: 'sms', type: 'sandbox', position: nth } as const
      return { _id, ...place, config: keyring.seal('{}', providerContext(_id)), rev: 1 }
    }
    await store.docs('providers').insert(Array.from({ length: 1_100 }, (_, nth) => provider(nth, after)))
    const { rotate } = sweeper()
    for (let runs = 0; runs < 50 && (await state())?.state !== 'done'; runs += 1) await rotate()
    await store.docs('providers').insert([provider(1_100, before)])
    const states: unknown[] = []
    for (let minute = 0; minute < 2; minute += 1) {
      await clock.advance(60_000)
      await rotate()
      states.push((await state())?.state)
    }
    expect(states).to.deep.equal(['done', 'running'])
  })

  it('renews every text and index of a verification, and nothing else', async () => {
    const id = await send('app_2')
    const [sent] = issued().context.deliveries
    const asking = { ...(sent as Delivery), writer: before.seal('GB.123', atRest.writer('dlv_1')) }
    await store.docs('otps').modify({ _id: id }, { $set: { 'context.deliveries': [asking] } })
    const old = await otp(id)
    expect((await rotateUntilDone()).renewed_in_all).to.equal(1)
    const renewed = await otp(id)
    const { context } = renewed
    expect(after.unseal(context.recipient.sealed, atRest.recipient(id))).to.equal(TO)
    expect(after.unseal('salt' in context.code ? context.code.salt : '', atRest.salt(context))).to.be.a('string')
    const url = after.unseal(context.link?.sealed_url ?? '', atRest.link(id))
    expect(after.unseal(renewed.first.sealed_action_url ?? '', atRest.link(id))).to.equal(url)
    const reference = new URL(url).searchParams.get('text')?.match(/[2-9A-HJ-NP-Z]{16}/)?.[0] ?? ''
    expect(renewed.reference).to.equal(referenceIndex(after, reference)).and.to.equal(context.link?.reference)
    const [index] = recipientIndexes(after, { ...APP_MODE, app_id: 'app_2' }, TO)
    expect(renewed.recipient).to.equal(index).and.to.equal(context.recipient.index)
    expect(renewed.rev).to.equal(old.rev + 1)
    const writer = context.deliveries[0]?.writer ?? ''
    expect(after.unseal(writer, atRest.writer('dlv_1'))).to.equal('GB.123')
    const { recipient: _, link: __, code: ___, ...rest } = context
    const { recipient: ____, link: _____, code: ______, ...was } = old.context
    expect(rest).to.deep.equal({ ...was, deliveries: [{ ...asking, writer }] })
    expect(JSON.stringify(renewed)).to.not.include('v1.d1.')
  })

  it('renews the configs of providers and the secrets of webhooks', async () => {
    await addInbox(before)
    const secrets = (['current', 'next'] as const).map(which =>
      createWebhookSecret(before, `whsec_${which}`, { endpoint_id: 'app_1', state: which, now: 0 }),
    )
    await store.docs('webhooks').insert([{ _id: 'app_1', url: 'https://x.example', status: 'active', secrets, rev: 1 }])
    await rotateUntilDone()
    const reader = createTenancy({ store, keyring: after, clock })
    expect((await reader.providersOf('app_1')).providers).to.have.length(1)
    const opened = (await reader.webhooks('app_1'))[0]?.secrets.map(({ secret }) => secret)
    expect(opened).to.deep.equal(['whsec_current', 'whsec_next'])
  })

  it('renews whom a refused send was about, and the index by it or by a verification', async () => {
    await send()
    const others = '+14155550199'
    const about = { ...APP_MODE, company_id: 'cmp_1', key_id: 'key_1', at: 0, request_id: null, masked: null }
    const why = { type: 'GeoBlockedError', scope: null, country: null } as const
    const indexOf = (keyring: Keyring, to: string) => recipientIndexes(keyring, APP_MODE, to)[0] ?? ''
    const refuse = async (to: string, keyring?: Keyring): Promise<string> => {
      const _id = newId('rfs', 0)
      const sealed = keyring?.seal(JSON.stringify({ recipient: to, client_ip: null }), refusedPersonContext(_id))
      const judged = sealed === undefined ? {} : ({ judged: { call: 'send', kind: 'server', sealed } } as const)
      const refusal = { _id, ...about, ...why, ...judged, recipient: indexOf(before, to), purge_at: new Date(2 ** 42) }
      await store.docs('refusals').insert([refusal])
      return _id
    }
    const [verified, unknown] = [await refuse(TO), await refuse('+14155550198')]
    const [person, unsealable] = [await refuse(others, before), await refuse(others, testKeyring(7))]
    expect(await rotateUntilDone()).to.include({ unsealable: 1 })
    const found = await store.docs('refusals').get([verified, unknown, person, unsealable])
    expect(found.get(verified)?.recipient).to.equal(indexOf(after, TO))
    expect(found.get(unknown)?.recipient).to.equal(indexOf(before, '+14155550198'))
    const { recipient, judged } = found.get(person) ?? {}
    expect(recipient).to.equal(indexOf(after, others))
    expect(JSON.parse(after.unseal(judged?.sealed ?? '', refusedPersonContext(person))).recipient).to.equal(others)
    expect(found.get(unsealable)?.recipient, 'what does not open is left').to.equal(indexOf(before, others))
  })

  it('renews what endpoints answered, and leaves the event’s revision to a call that is under way', async () => {
    const insert = async (keyring: Keyring, texts: readonly (string | null)[]): Promise<string> => {
      const _id = newId('evt', 0)
      const body = {
        app_id: 'app_1',
        company_id: 'cmp_1',
        mode: 'test',
        type: 'otp.approved',
        payload: {},
        at: 0,
      } as const
      const attempts = texts.map((text, nth): EventAttempt => {
        const sealed_response = text === null ? null : keyring.seal(text, eventAnswerContext(_id))
        return { round: 1, attempt: nth + 1, at: 0, ms: 1, status: 200, error: null, sealed_response }
      })
      const event = newEvent(newEventFields({ ...body, event_id: _id }, null, undefined), 'delivered')
      await store.docs('events').insert([{ ...event, attempts, purge_at: new Date(2 ** 42) }])
      return _id
    }
    const [_id, unsealable] = [await insert(before, ['busy', null, 'ok']), await insert(testKeyring(7), ['lost'])]
    expect(await rotateUntilDone()).to.include({ renewed_in_all: 1, unsealable: 1 })
    const found = await store.docs('events').get([_id, unsealable])
    const event = found.get(_id)
    expect(event?.attempts.map(({ sealed_response }) => answerText(after, _id, sealed_response))).to.deep.equal([
      'busy',
      null,
      'ok',
    ])
    expect(event?.rev).to.equal(0)
    expect(answerText(after, unsealable, found.get(unsealable)?.attempts[0]?.sealed_response ?? null)).to.equal(null)
  })

  it('renews the indexes of counters and sandbox messages, and the codes of these', async () => {
    const id = await send()
    const [delivery] = (await otp(id)).context.deliveries
    const message = { app_id: 'app_1', company_id: 'cmp_1', otp_id: id, generation: 1, locale: 'en', at: 0 }
    const recipient = sandboxIndex(before, TO)
    const _id = delivery?.delivery_id ?? ''
    const sealed_code = before.seal('482913', inboxCodeContext(_id))
    await store
      .docs('sandbox_messages')
      .insert([{ ...message, _id, recipient, sealed_code, purge_at: new Date(2 ** 42) }])
    await rotateUntilDone()
    const [kept] = [...(await store.docs('sandbox_messages').get([_id])).values()]
    expect(kept?.recipient).to.equal(sandboxIndex(after, TO))
    expect(after.unseal(kept?.sealed_code ?? '', inboxCodeContext(_id))).to.equal('482913')
    const [index] = recipientIndexes(after, APP_MODE, TO)
    const name = `app_1:test:sends:server:${index}`
    const windows = (await store.docs('counters').get([name])).get(name)?.windows ?? {}
    const counts = Object.entries(windows).map(([window, { count }]) => [window, count])
    expect(Object.fromEntries(counts)).to.deep.equal({ s600: 1, s86400: 1, messages_s86400: 1 })
  })

  describe('of an idempotency key', () => {
    const sendWithKey = (by: TestActor) =>
      by.send({ company: 'cmp_1', app: 'app_1', recipient: TO, idempotency: 'order 1' })
    const owner = { company_id: 'cmp_1', mode: 'test', kind: 'server' } as const
    const indexUnder = (keyring: Keyring): string => idempotencyIndexes(keyring, owner, 'order 1')[0] ?? ''
    const claims = async () => [...(await store.docs('claims').get([before, after].map(indexUnder))).values()]
    const expectFoundByNewKeyAlone = async (otp_id: string): Promise<void> => {
      const later = await startOtpActor(store, after)
      expect((await sendWithKey(later)).otp_id).to.equal(otp_id)
      await later.close()
    }

    it('renews its index, so that the new key alone finds its verification', async () => {
      const { otp_id } = await sendWithKey(actor)
      await rotateUntilDone()
      expect(JSON.stringify(await claims())).to.not.include('v1.d1.')
      await expectFoundByNewKeyAlone(otp_id)
    })

    it('takes another pass while its send may be under way, and frees the key when that was cut off', async () => {
      const cutOff = {
        _id: indexUnder(before),
        otp_id: 'otp_never',
        held_until: clock.now() + CLAIM_HELD_MS,
        claimed_at: clock.now(),
        sealed_key: before.seal('order 1', idempotencyKeyContext(owner)),
        expires_at: clock.now() + 86_400_000,
        purge_at: new Date(2 ** 42),
      }
      await store.docs('claims').insert([cutOff])
      const { rotate } = sweeper()
      await rotate()
      expect((await state())?.state).to.equal('running')
      await clock.advance(MAX_AGE_OF_TAKEN_OVER_ID_MS - 1)
      await rotate()
      expect((await state())?.state, 'a call may take it over').to.equal('running')
      expect(await claims()).to.have.length(1)
      await clock.advance(1)
      await rotateUntilDone()
      expect(await claims()).to.deep.equal([])
    })
  })

  it('loses no concurrent change, and renews the document after it', async () => {
    const id = await send()
    let overtaken = 0
    const racedStore = interceptWrites(store, {
      async before(call) {
        if (call !== 'otps.change' || overtaken > 1) return
        overtaken += 1
        await store
          .docs('otps')
          .change([{ _id: id, rev: (await otp(id)).rev, update: { $inc: { 'context.sends': 1 } } }])
      },
    })
    const { rotate } = sweeper(during, racedStore)
    while ((await state())?.state !== 'done') await rotate()
    const { context } = await otp(id)
    expect(context.sends).to.equal(3)
    expect(after.unseal(context.recipient.sealed, atRest.recipient(id))).to.equal(TO)
  })

  it('continues after a crash at any step', async () => {
    const idempotency = 'order 1'
    const { otp_id } = await actor.send({ company: 'cmp_1', app: 'app_1', recipient: TO, idempotency })
    const ids = [otp_id, await send('app_2', '+14155550124')]
    for (const call of [
      'counters.insert',
      'otps.change',
      'otps.update',
      'claims.insert',
      'claims.modify',
      'rotations.change',
    ])
      for (const when of ['before', 'after'] as const) await rotateAndDie(call, when)
    await rotateUntilDone()
    for (const id of ids) expect(JSON.stringify(await otp(id))).to.not.include('v1.d1.')
    const later = await startOtpActor(store, after)
    expect((await later.send({ company: 'cmp_1', app: 'app_1', recipient: TO, idempotency })).otp_id).to.equal(otp_id)
    await later.close()
  })

  it('reseals the code of a message and the secret of a hook', async () => {
    const id = newId('msg', clock.now())
    await actor.ask(sendCall(before, TO, { otp_id: id, sealed_code: before.seal('482913', inFlight.code) }))
    const context = hookSecretContext('app_1', 'supabase', 'test')
    const hook_secrets = { supabase: { test: [after.seal('whsec_0', context), before.seal('whsec_1', context)] } }
    await store.docs('apps').update([{ ids: ['app_1'], update: { $set: { hook_secrets } } }])
    await rotateUntilDone()
    const { code } = (await otp(id)).context
    expect(after.unseal(('given' in code && code.given) || '', atRest.givenCode(id))).to.equal('482913')
    const app = (await store.docs('apps').get(['app_1'])).get('app_1')
    const resealed = app?.hook_secrets?.supabase?.test ?? []
    expect(resealed.map(sealed => after.unseal(sealed, context))).to.deep.equal(['whsec_0', 'whsec_1'])
  })

  it('ends after a pass that found nothing to renew, and resumes when a process still seals with the older key', async () => {
    await send()
    const { captured, metrics, rotate } = sweeper()
    while ((await state())?.state !== 'done') await rotate()
    // One verification, and two apps.
    expect(await state()).to.include({ pass: 2, looked: 3, renewed: 0, unsealable: 0, renewed_in_all: 1 })
    expect(captured.output()).to.include('rotation.done')
    expect((await metrics.render()).body).to.include('countersign_key_rotation{what="done"} 1')
    for (let again = 0; again < 2; again += 1) await rotate()
    expect((await state())?.state).to.equal('done')
    const late = await send()
    await clock.advance(60_000)
    await rotate()
    expect((await state())?.state).to.equal('running')
    expect((await rotateUntilDone()).state).to.equal('done')
    expect(JSON.stringify(await otp(late))).to.not.include('v1.d1.')
  })

  it('that lost its older key too early ends, reports what is left, and restarts when the key is back', async () => {
    const id = await send()
    await sweeper(
      during,
      interceptWrites(store, { before: call => call === 'otps.change' && Promise.reject(new Error('away')) }),
    )
      .rotate()
      .catch(() => {})
    const early = sweeper(after)
    await early.rotate()
    const said = early.captured.lines().filter(({ msg }) => msg === 'rotation.key_removed_too_early')
    expect(said.map(({ key_ids }) => key_ids)).to.deep.equal([['d1']])
    while ((await state())?.state !== 'done') await early.rotate()
    expect(await state()).to.include({ unsealable: 1 })
    expect(early.captured.output()).to.include('rotation.left_unsealable')
    expect(await sweeper().rotate()).to.equal(0)
    expect(await rotateUntilDone()).to.include({ unsealable: 0, renewed_in_all: 1 })
    expect(JSON.stringify(await otp(id))).to.not.include('v1.d1.')
  })

  it('does not start while there is one key', async () => {
    await sweeper(before).rotate()
    expect(await state()).to.equal(undefined)
  })
})

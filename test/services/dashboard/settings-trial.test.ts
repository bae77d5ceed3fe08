// A replay holds what live rules hold: calls go through a running OTP actor, and are played again from what it has stored.
import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../infra/ids.ts'
import type { OtpAnswer } from '../../../machines/calls.ts'
import type { Channel, Priced } from '../../../machines/channels.ts'
import { isPaid } from '../../../machines/otp.charges.ts'
import { isEnded } from '../../../machines/otp.queries.ts'
import type { KeyKind, Otp } from '../../../machines/otp.ts'
import type { LimitRule } from '../../../machines/settings.ts'
import { type TrialDeps, trySettings } from '../../../services/dashboard/settings-trial/trial.ts'
import type { TrialInput } from '../../../services/dashboard/settings-trial/trial-input.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import { type Price, savePrices } from '../../../services/domain/money/prices.ts'
import { eraseVerifications } from '../../../services/domain/privacy/erasure.ts'
import { providerContext, providerId } from '../../../services/domain/tenancy/documents.ts'
import { resolveSettings, type SettingsInput } from '../../../services/domain/tenancy/settings.ts'
import { TENANT_CACHE } from '../../../services/domain/tenancy/tenancy.ts'
import { atRest, inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../../services/domain/verifications/message-content.ts'
import type { OtpReport } from '../../../services/domain/verifications/queue-messages.ts'
import { eventually } from '../../support/eventually.ts'
import { hardestSolution } from '../../support/hardest-challenge.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { reportStatus } from '../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

type Step =
  | { do: 'send'; to: string; kind: KeyKind; ip: string | null; code?: string; channel?: Channel }
  /** `isEarlier`: of a verification that began before the time that is tried. */
  | { do: 'resend'; nth: number; kind: KeyKind; channel: Channel | null; isEarlier?: boolean }
  | { do: 'verify'; nth: number }
  | { do: 'fail'; nth: number }
  | { do: 'cancel'; nth: number }
  /** The user writes on the link. */
  | { do: 'write'; nth: number }
  | { do: 'wait'; ms: number }

const RECIPIENTS = [
  '+14155550001',
  '+14155550002',
  '+447911123456',
  '+4915112345678',
  '+493012345678',
  '+18002345678',
  'ada@example.com',
  'ada+shop@example.com',
]
const ADDRESSES = [null, '8.8.8.8', '8.8.4.4', '2a00:1450:4001:800::1', '2a00:1450:4001:801::1']

const PRICES: readonly [Priced, number][] = [
  ['sms', 60],
  ['whatsapp', 40],
  ['reply', 20],
  ['email', 10],
]
const priceOf = (priced: Priced, micros: number): Price => ({
  ...(priced === 'reply' ? { channel: 'whatsapp', kind: priced } : { channel: priced }),
  country: '*',
  micros,
})
/** What is paid for a verification, refunds deducted. */
const LONGEST_CACHED_MS = 2 * TENANT_CACHE.ttlMs
const kept = ({ deliveries }: Otp): number => deliveries.filter(isPaid).reduce((sum, { micros }) => sum + micros, 0)

const kind = fc.constantFrom<KeyKind>('server', 'publishable')
const send = fc.record({
  do: fc.constant('send' as const),
  to: fc.constantFrom(...RECIPIENTS),
  kind,
  ip: fc.constantFrom(...ADDRESSES),
})
/** As Twilio's API starts it. */
const sendOn = send.map(one => ({ ...one, kind: 'server' as const, channel: 'sms' as const }))
/** With a code that the caller made. */
const message = fc.record({
  do: fc.constant('send' as const),
  to: fc.constantFrom(...RECIPIENTS),
  kind: fc.constant<KeyKind>('server'),
  ip: fc.constantFrom(...ADDRESSES),
  code: fc.constantFrom('123456', 'QWERTY'),
})
const HALF_A_DAY_MS = 12 * 3_600_000
const wait = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.constantFrom(10_000, 31_000, 200_000, 700_000, HALF_A_DAY_MS),
})
const nth = fc.nat({ max: 9 })
const resend = fc.record({
  do: fc.constant('resend' as const),
  nth,
  kind,
  channel: fc.constantFrom<Channel | null>(null, null, 'sms', 'whatsapp'),
})
const verify = fc.record({ do: fc.constant('verify' as const), nth })
const fail = fc.record({ do: fc.constant('fail' as const), nth })
const cancel = fc.record({ do: fc.constant('cancel' as const), nth })
const write = fc.record({ do: fc.constant('write' as const), nth })
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: send },
  { weight: 2, arbitrary: message },
  { weight: 3, arbitrary: resend },
  sendOn,
  verify,
  cancel,
  { weight: 2, arbitrary: fail },
  { weight: 2, arbitrary: write },
  { weight: 2, arbitrary: wait },
)
const sendsOnly = fc.array(fc.oneof({ weight: 6, arbitrary: send }, wait), { minLength: 10, maxLength: 40 })
/** Many numbers of one block, or mailboxes of one domain, fast enough for the fraud guard to slow them down, and slow
 *  enough that all refusals are recorded. */
const burst = fc
  .record({ kind, size: fc.integer({ min: 10, max: 22 }), group: fc.constantFrom('00', '77', 'shop.example') })
  .map(({ kind, size, group }) =>
    Array.from({ length: size }, (_, nth): Step[] => [
      {
        do: 'send',
        to: group.length > 2 ? `user${nth}@${group}` : `+1415555${group}${String(nth).padStart(2, '0')}`,
        kind,
        ip: null,
      },
      { do: 'wait', ms: 3_000 },
    ]).flat(),
  )

/** A trial begins with the first step, or after any other. */
const traffic = (one: fc.Arbitrary<Step>, later = one): fc.Arbitrary<{ before: Step[]; all: Step[] }> => {
  const some = (single: fc.Arbitrary<Step>) =>
    fc
      .array(fc.oneof({ weight: 12, arbitrary: single.map(step => [step]) }, burst), { maxLength: 25 })
      .map(groups => groups.flat())
  return fc
    .record({ before: some(one), divided: burst, place: fc.nat(), all: some(later) })
    .map(({ before, divided, place, all }) => {
      const begin = place % divided.length
      return {
        before: [...before, ...divided.slice(0, begin)],
        all: [...divided.slice(begin), ...all],
      }
    })
}

const rules = (max: number) =>
  fc.array(fc.record({ max: fc.integer({ min: 1, max }), seconds: fc.constantFrom(60, 600, 3_600) }), { maxLength: 2 })
const settings = fc.record({
  limits: fc.record({
    recipient: rules(6),
    recipient_messages: rules(8),
    client_ip: rules(6),
    app_without_client_ip: rules(10),
    app: rules(20),
    app_publishable: rules(20),
  }),
  routing: fc.record({
    default: fc.constantFrom<Channel[]>(['sms', 'whatsapp', 'email'], ['whatsapp', 'sms', 'email'], ['sms']),
    countries: fc.constantFrom<Record<string, Channel[]>>({}, { GB: ['whatsapp'] }, { US: ['telegram', 'sms'] }),
  }),
  channels: fc.record({
    whatsapp: fc.record({
      mode: fc.constantFrom('template' as const, 'template' as const, 'link_code' as const, 'link_inbound' as const),
      business_number: fc.constant('+15550001111'),
    }),
  }),
  blocked_countries: fc.constantFrom<string[]>([], ['DE'], ['GB', 'US']),
  allowed_countries: fc.constantFrom<string[] | null>(null, null, ['GB', 'US']),
  number_kinds: fc.record({
    refused: fc.constantFrom([], [], ['toll_free' as const]),
    fixed_line: fc.constantFrom('use' as const, 'skip_sms' as const),
  }),
  code: fc.record({ ttl_seconds: fc.constantFrom(60, 600) }),
  auto_fallback: fc.boolean(),
  resend_cooldown_seconds: fc.constantFrom([30], [0], [30, 60]),
  send_attempts: fc.integer({ min: 1, max: 4 }),
  fraud_guard: fc.record({
    mode: fc.constantFrom('off' as const, 'record' as const, 'on' as const),
    action: fc.constantFrom('refuse' as const, 'free_channel' as const),
  }),
  spend_caps: fc.constantFrom<Record<string, number>>({}, { '*': 250 }, { US: 120, '*': 1_000 }),
  publishable_send: fc.constant(true),
  publishable_challenge: fc.constant('off' as const),
}) satisfies fc.Arbitrary<SettingsInput>
/** Limits are so wide here that what floods an app meets its fraud guard. */
const guarded = settings.map(
  (made): SettingsInput => ({
    ...made,
    limits: { app_without_client_ip: [{ max: 1_000, seconds: 60 }] },
    blocked_countries: [],
    allowed_countries: null,
    spend_caps: {},
    fraud_guard: { ...made.fraud_guard, mode: 'on' },
  }),
)
/** With a link, some sends would be resends onto it, which have no record. */
const reusing = fc.tuple(settings, fc.boolean()).map(
  ([made, reuses]): SettingsInput => ({
    ...made,
    reuse_pending: reuses && made.channels.whatsapp.mode === 'template',
  }),
)

/** Settings that change in the midst of traffic. Live counters of windows that no limit had before begin empty then,
 *  and a trial fills them, so limits and spend caps of both settings count the same windows and countries, and the
 *  guard is not new. */
const changes = fc
  .record({
    saved: fc.oneof(settings, guarded),
    tried: fc.oneof(settings, guarded),
    factor: fc.constantFrom(0.5, 1, 2),
    rules: fc.nat({ max: 2 }),
  })
  .filter(({ saved, tried }) => saved.fraud_guard?.mode !== 'off' || tried.fraud_guard?.mode !== 'on')
  .map(({ saved, tried, factor, rules }) => {
    const limits = Object.entries(saved.limits ?? {}).map(([name, all]) => [
      name,
      (all as LimitRule[]).slice(0, rules).map(rule => ({ ...rule, max: Math.ceil(rule.max * factor) })),
    ])
    const caps = Object.entries(saved.spend_caps ?? {}).map(([country, micros]) => [country, micros * factor])
    const spend_caps = Object.fromEntries(caps.slice(0, rules))
    return { saved, tried: { ...tried, limits: Object.fromEntries(limits), spend_caps } satisfies SettingsInput }
  })
/** What a trial plays again is what was asked for then. Other messages would have failed, been entered and been resent
 *  than those that were. */
const laterStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: send },
  { weight: 2, arbitrary: message },
  { weight: 3, arbitrary: resend.map(one => ({ ...one, isEarlier: true })) },
  sendOn,
  wait,
)

/** So that a few calls take several pages. */
const SMALL_PAGE = 2

onEmbeddedStore('a replay of past calls', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  let actor: TestActor
  let apps = 0
  beforeEach(async () => {
    store = await fresh()
    actor = await startOtpActor(store, keyring)
    const account = openAccount('cmp_a', 1_000_000, actor.clock.now())
    await store.docs('companies').insert([{ _id: 'cmp_a', name: 'A', ...account, created_at: 0, rev: 1 }])
    const prices = PRICES.map(([priced, micros]) => priceOf(priced, micros))
    await savePrices(store.docs('prices'), undefined, prices)
  })
  afterEach(() => actor.close())

  async function createApp(settings: SettingsInput): Promise<string> {
    apps += 1
    const app_id = `app_${apps}`
    await store.docs('apps').insert([{ _id: app_id, company_id: 'cmp_a', name: 'A', settings, created_at: 0, rev: 1 }])
    const config = JSON.stringify({ url: 'https://gateway.example', body: { text: '{{text}}' } })
    await store.docs('providers').insert(
      (['sms', 'whatsapp', 'telegram', 'email'] as const).map((channel, position) => {
        const _id = providerId(app_id, channel)
        const sealed = keyring.seal(config, providerContext(_id))
        return { _id, app_id, name: channel, channel, type: 'http' as const, position, config: sealed, rev: 1 }
      }),
    )
    return app_id
  }

  const storedOtp = async (otp_id: string) => {
    const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
    return (doc as NonNullable<typeof doc>).context
  }
  const paidIn = async (app_id: string, since: number) => {
    const otps = await store.docs('otps').find({ app_id, _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 1_000 })
    const paid = otps.flatMap(({ context }) => context.deliveries).filter(isPaid)
    return paid.filter(({ created_at }) => created_at >= since).reduce((sum, { micros }) => sum + micros, 0)
  }
  const balance = async () => (await store.docs('companies').get(['cmp_a'])).get('cmp_a')?.balance ?? 0

  /** Resolves when the prices that it gives back, or charges again, are booked. */
  async function settle(otp_id: string, change: () => Promise<unknown>, isSeen: (otp: Otp) => boolean): Promise<void> {
    const [moneyBefore, before] = [await balance(), kept(await storedOtp(otp_id))]
    await change()
    const after = await eventually(async () => {
      const otp = await storedOtp(otp_id)
      expect(isSeen(otp)).to.equal(true)
      return kept(otp)
    })
    await eventually(async () => expect(await balance()).to.equal(moneyBefore + before - after))
  }

  async function failLatest(otp_id: string): Promise<void> {
    const delivery_id = (await storedOtp(otp_id)).deliveries.at(-1)?.delivery_id
    // On a link there is no message.
    if (delivery_id === undefined) return
    const isSeen = ({ deliveries }: Otp) => deliveries.some(one => one.delivery_id === delivery_id && isEnded(one))
    await settle(otp_id, () => reportStatus(actor, { otp_id, delivery_id }, 'failed'), isSeen)
  }

  async function writeOnLink(app_id: string, otp_id: string): Promise<void> {
    const { link, recipient } = await storedOtp(otp_id)
    if (link === null) return
    const sealed_from = keyring.seal(keyring.unseal(recipient.sealed, atRest.recipient(otp_id)), inFlight.from)
    const at = actor.clock.now()
    const body: OtpReport = {
      type: 'message.received',
      app_id,
      mode: 'live',
      sealed_from,
      references: [link.reference],
      at,
    }
    await actor.broker.publish('otp.reports', { id: newId('evt', at), body })
  }

  interface Performed {
    begun_at: number
    /** When the steps began that are counted here. */
    since: number
    calls: number
    accepted: number
    /** Fallbacks and answers on a link. */
    unasked: number
    /** For messages of that time, refunds deducted. */
    paid: number
  }

  /** `before`: steps that are not counted, and then what `change` does. */
  async function perform(
    app_id: string,
    all: readonly Step[],
    { before = [], change = async () => {} }: { before?: readonly Step[]; change?(): Promise<void> } = {},
  ): Promise<Performed> {
    const { ask, clock } = actor
    const begun_at = clock.now()
    const recordedBefore = await store.docs('refusals').count({ app_id })
    const started: string[] = []
    const answers: OtpAnswer[] = []
    let unasked = 0
    let startedBefore = 0
    const by = (kind: KeyKind) => ({ company_id: 'cmp_a', app_id, mode: 'live' as const, key_id: `key_${kind}`, kind })

    async function take(step: Step): Promise<void> {
      // What was counted in the background is counted before the next call, as between two people's calls.
      await clock.advance(1)
      if (step.do === 'wait') await clock.advance(step.ms)
      else if (step.do === 'send') {
        const answer = await ask({
          type: 'otp.send',
          by: by(step.kind),
          otp_id: newId(step.code === undefined ? 'otp' : 'msg', clock.now()),
          locale: null,
          sealed_client_ip: step.ip === null ? null : keyring.seal(step.ip, inFlight.clientIp),
          claim: null,
          sealed_recipient: keyring.seal(step.to, inFlight.recipient),
          ...(step.code === undefined ? {} : { sealed_code: keyring.seal(step.code, inFlight.code) }),
          ...(step.channel && { channel: step.channel, without_link: true }),
        })
        answers.push(answer)
        if (answer.kind === 'verification' && step.code === undefined) started.push(answer.verification.otp_id)
      } else {
        const those = step.do === 'resend' && step.isEarlier ? started.slice(0, startedBefore) : started
        const otp_id = those[step.nth % those.length]
        if (otp_id === undefined) return
        if (step.do === 'resend') {
          // A resend onto a link makes no message, so there is no record of it.
          const { whatsapp } = await storedOtp(otp_id)
          const channel = whatsapp === 'template' ? step.channel : 'sms'
          answers.push(await ask({ type: 'otp.resend', by: by(step.kind), otp_id, channel }))
        } else if (step.do === 'cancel') await ask({ type: 'otp.cancel', by: by('server'), otp_id })
        else if (step.do === 'fail' || step.do === 'write') {
          const known = (await storedOtp(otp_id)).deliveries.length
          if (step.do === 'fail') await failLatest(otp_id)
          else await writeOnLink(app_id, otp_id)
          unasked += (await storedOtp(otp_id)).deliveries.length - known
        } else {
          const sealed_code = keyring.seal(codeOf(keyring, await storedOtp(otp_id)), inFlight.code)
          const call = { type: 'otp.verify' as const, by: by('publishable'), otp_id, sealed_code }
          await settle(
            otp_id,
            () => ask(call),
            () => true,
          )
        }
      }
    }

    for (const step of before) await take(step)
    startedBefore = started.length
    await change()
    await clock.advance(1)
    const since = clock.now()
    const [callsBefore, unaskedBefore] = [answers.length, unasked]
    for (const step of all) await take(step)
    await clock.advance(1)
    const isAccepted = ({ kind }: OtpAnswer) => kind === 'verification'
    const refused = answers.filter(answer => !isAccepted(answer)).length
    await eventually(async () =>
      expect(await store.docs('refusals').count({ app_id })).to.equal(recordedBefore + refused),
    )
    const counted = answers.slice(callsBefore)
    return {
      begun_at,
      since,
      calls: counted.length,
      accepted: counted.filter(isAccepted).length,
      unasked: unasked - unaskedBefore,
      paid: await paidIn(app_id, since),
    }
  }

  const replay = (
    app_id: string,
    since: number,
    saved: SettingsInput,
    tried: SettingsInput,
    { deps = {}, ...input }: { deps?: Partial<TrialDeps> } & Partial<TrialInput> = {},
  ) =>
    trySettings(
      { store, keyring, ...deps },
      {
        app_id,
        saved: resolveSettings(saved),
        tried: resolveSettings(tried),
        since,
        until: actor.clock.now() + 1,
        now: actor.clock.now() + 1,
        app_created_at: since,
        ...input,
      },
    )

  it('ends as soon as its caller has left', async () => {
    const app_id = await createApp({})
    const since = actor.clock.now()
    for (const asksBefore of [0, 1]) {
      let asked = 0
      const isAbandoned = () => asked++ >= asksBefore
      const failure = await replay(app_id, since, {}, {}, { deps: { isAbandoned } }).catch(error => error)
      expect(failure.message, `asked ${asked} times`).to.equal('The caller has left.')
    }
  })

  it('plays a send that was refused as a resend of the pending verification as that resend', async () => {
    const saved: SettingsInput = {
      reuse_pending: true,
      resend_cooldown_seconds: [0],
      limits: { recipient_messages: [{ max: 2, seconds: 600 }] },
    }
    const since = actor.clock.now()
    const app_id = await createApp(saved)
    const call = { do: 'send', to: '+14155550001', kind: 'server', ip: null } as const
    expect(await perform(app_id, [call, call, call])).to.include({ accepted: 2 })
    // Then the statistics, which count it as a send, are compared with what was read.
    await actor.clock.advance(3_600_000)
    expect(await replay(app_id, since, saved, saved)).to.deep.include({ sends: 3, not_judged: [] })
    const { no_longer_refused, examples } = await replay(app_id, since, saved, { ...saved, limits: {} })
    expect(no_longer_refused.map(({ scope, count }) => [scope, count])).to.deep.equal([['recipient', 1]])
    const [otp] = await store.docs('otps').find({ app_id, _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 1 })
    expect(examples[0]?.otp_id).to.equal(otp?._id)
  })

  it('knows which refused sends and which resends brought the hardest challenge', async () => {
    const saved: SettingsInput = {
      publishable_send: true,
      publishable_challenge: 'off',
      resend_cooldown_seconds: [0],
      limits: { recipient: [{ max: 3, seconds: 600 }], recipient_messages: [] },
    }
    const since = actor.clock.now()
    const app_id = await createApp(saved)
    const start = { do: 'send', to: '+14155550001', kind: 'publishable', ip: '8.8.8.8' } as const
    const again = (nth: number, times: number) =>
      Array<Step>(times).fill({ do: 'resend', nth, kind: 'publishable', channel: null })
    // As many messages to one number within an hour as the guard allows.
    const { accepted } = await perform(app_id, [start, ...again(0, 4), start, ...again(1, 3), start])
    expect(accepted).to.equal(10)
    const asking: SettingsInput = { ...saved, publishable_challenge: 'always' }
    await store.docs('apps').modify({ _id: app_id }, { $set: { settings: asking } })
    await actor.clock.advance(LONGEST_CACHED_MS)

    const [, second] = await store.docs('otps').find({ app_id, _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 2 })
    const otp_id = second?._id ?? ''
    const by = { company_id: 'cmp_a', app_id, mode: 'live', key_id: 'key_publishable', kind: 'publishable' } as const
    const refused = await actor.ask({
      type: 'otp.send',
      by,
      otp_id: newId('otp', actor.clock.now()),
      locale: null,
      sealed_client_ip: null,
      claim: null,
      sealed_recipient: keyring.seal(start.to, inFlight.recipient),
      challenge_solution: hardestSolution(keyring, by.key_id, 'send', start.to),
    })
    expect(refused).to.include({ kind: 'refused', scope: 'recipient' })
    await actor.clock.advance(1)
    const challenge_solution = hardestSolution(keyring, by.key_id, 'resend', otp_id)
    const resent = await actor.ask({ type: 'otp.resend', by, otp_id, channel: null, challenge_solution })
    expect(resent.kind).to.equal('verification')
    await eventually(async () => expect(await store.docs('refusals').count({ app_id })).to.equal(1))

    expect(await replay(app_id, since, asking, asking)).to.deep.include({ sends: 12, refused: [], not_judged: [] })
    const { no_longer_refused } = await replay(app_id, since, asking, { ...asking, limits: { recipient: [] } })
    expect(no_longer_refused).to.deep.equal([
      { type: 'RateLimitExceededError', scope: 'recipient', country: 'US', count: 1 },
    ])
  })

  it('counts what a login hands over by the limit that is for logins', async () => {
    const saved: SettingsInput = { limits: { app_hooks: [{ max: 2, seconds: 60 }] } }
    const since = actor.clock.now()
    const app_id = await createApp(saved)
    const by = { company_id: 'cmp_a', app_id, mode: 'live', key_id: 'key_server', kind: 'server' } as const
    const kinds: string[] = []
    for (const last of [1, 2, 3]) {
      const { kind } = await actor.ask({
        type: 'otp.send',
        by,
        otp_id: newId('msg', actor.clock.now()),
        locale: null,
        sealed_client_ip: null,
        claim: null,
        sealed_recipient: keyring.seal(`+1415555000${last}`, inFlight.recipient),
        sealed_code: keyring.seal('123456', inFlight.code),
        from_login: true,
      })
      kinds.push(kind)
      await actor.clock.advance(1)
    }
    expect(kinds).to.deep.equal(['verification', 'verification', 'refused'])
    await eventually(async () => expect(await store.docs('refusals').count({ app_id })).to.equal(1))
    const tried = async (limits: SettingsInput['limits']) => {
      const { sends, refused, no_longer_refused } = await replay(app_id, since, saved, { limits })
      return { sends, refused, no_longer_refused }
    }
    const one = { type: 'RateLimitExceededError', scope: 'app_hooks', country: 'US', count: 1 }
    expect(await tried({ ...saved.limits, app_without_client_ip: [{ max: 1, seconds: 60 }] })).to.deep.equal({
      sends: 3,
      refused: [],
      no_longer_refused: [],
    })
    expect(await tried({})).to.deep.include({ refused: [], no_longer_refused: [one] })
    expect((await tried({ app_hooks: [{ max: 1, seconds: 60 }] })).refused).to.deep.equal([one])
  })

  it('lets through no message on Telegram whose letters it cannot carry', async () => {
    const saved: SettingsInput = { limits: { recipient_messages: [] }, blocked_countries: ['US'] }
    const since = actor.clock.now()
    const app_id = await createApp(saved)
    const message = (code: string): Step => ({ do: 'send', to: '+14155550001', kind: 'server', ip: null, code })
    expect(await perform(app_id, [message('123456'), message('QWERTY')])).to.include({ accepted: 0 })
    const tried = await replay(app_id, since, saved, { routing: { default: ['telegram'] } })
    expect(tried.no_longer_refused.map(({ type, count }) => [type, count])).to.deep.equal([['GeoBlockedError', 1]])
  })

  it('sends nothing through a provider whose type this release does not know', async () => {
    const since = actor.clock.now()
    const app_id = await createApp({})
    await perform(app_id, [{ do: 'send', to: '+14155550001', kind: 'server', ip: null }])
    await store.docs('providers').modify({ _id: providerId(app_id, 'whatsapp') }, { $set: { type: 'pigeon' } })
    const { refused } = await replay(app_id, since, {}, { routing: { default: ['whatsapp'] } })
    expect(refused.map(({ type, count }) => [type, count])).to.deep.equal([['NoEnabledChannelError', 1]])
  })

  it('knows a number whose verifications are indexed with two data keys', async () => {
    const saved: SettingsInput = { limits: { recipient: [{ max: 2, seconds: 600 }] } }
    const since = actor.clock.now()
    const app_id = await createApp(saved)
    const call = { do: 'send', to: '+14155550001', kind: 'server', ip: null } as const
    expect(await perform(app_id, [call, call, call])).to.deep.include({ calls: 3, accepted: 2 })
    // As while data keys rotate: the first one is not indexed again yet.
    const [first] = await store.docs('otps').find({ app_id, _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 1 })
    await store.docs('otps').modify({ _id: first?._id ?? '' }, { $set: { 'context.recipient.index': 'former' } })
    const rotating = { ...keyring, keyIds: ['new', 'former'] }
    const { not_judged } = await replay(app_id, since, saved, saved, { deps: { keyring: rotating } })
    expect(not_judged).to.deep.equal([])
  })

  describe('says', () => {
    const call = (to: string): Step => ({ do: 'send', to, kind: 'server', ip: null })
    const HOUR_MS = 3_600_000
    const DAY_MS = 24 * HOUR_MS
    const reasons = ({ not_judged }: Awaited<ReturnType<typeof replay>>) =>
      not_judged.map(({ reason, count }) => ({ reason, count }))

    it('how many verifications are not kept', async () => {
      const since = actor.clock.now()
      const app_id = await createApp({})
      await perform(app_id, RECIPIENTS.map(call))
      await actor.clock.advance(HOUR_MS)
      expect(reasons(await replay(app_id, since, {}, {}))).to.deep.equal([])
      const erased = await store.docs('otps').find({ app_id, _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 2 })
      await eraseVerifications(store, erased)
      const after = await replay(app_id, since, {}, {})
      expect(after.sends).to.equal(RECIPIENTS.length - 2)
      expect(reasons(after)).to.deep.equal([{ reason: 'removed', count: 2 }])
    })

    it('which sends the guard would judge without most of its week', async () => {
      const saved: SettingsInput = { fraud_guard: { mode: 'on' } }
      const since = actor.clock.now()
      const app_id = await createApp(saved)
      // One on each of eight days.
      await perform(
        app_id,
        Array.from({ length: 8 }, () => [call('+14155550001'), { do: 'wait', ms: DAY_MS } as const]).flat(),
      )
      const old = { app_created_at: since - 30 * DAY_MS }
      // Tallies keep seven days, and the day before `since` is read: the first three days lack more than three of seven.
      const withoutPast = [{ reason: 'guard_without_past', count: 3 }]
      expect(reasons(await replay(app_id, since, saved, saved, old))).to.deep.equal(withoutPast)
      expect(reasons(await replay(app_id, since, saved, saved)), 'a new app has no past').to.deep.equal([])
      const off: SettingsInput = { fraud_guard: { mode: 'record' } }
      expect(reasons(await replay(app_id, since, off, off, old)), 'it refuses nothing').to.deep.equal([])
      const lately = actor.clock.now() - DAY_MS
      expect(reasons(await replay(app_id, lately, saved, saved, old)), 'of a day').to.deep.equal([])
    })

    it('which codes would not have been valid any more, or might have been entered later', async () => {
      const since = actor.clock.now()
      const app_id = await createApp({})
      const sentBefore = (ms: number): Step[] => [call(RECIPIENTS[0] ?? ''), { do: 'wait', ms }]
      await perform(app_id, [
        ...sentBefore(70_000),
        { do: 'verify', nth: 0 },
        ...sentBefore(30_000),
        { do: 'verify', nth: 1 },
      ])
      await perform(app_id, sentBefore(700_000))
      const [shorter, longer] = [{ code: { ttl_seconds: 60 } }, { code: { ttl_seconds: 3_600 } }]
      const codeLife = { reason: 'code_life', count: 1 }
      expect(reasons(await replay(app_id, since, {}, shorter)), 'one was entered too late').to.deep.equal([codeLife])
      expect(reasons(await replay(app_id, since, {}, longer)), 'one was never entered').to.deep.equal([codeLife])
    })

    it('which verifications were resent onto a link, and takes no answer for a resend', async () => {
      const whatsapp = { mode: 'link_code' as const, business_number: '+15550001111' }
      const saved: SettingsInput = {
        channels: { whatsapp },
        routing: { default: ['whatsapp', 'sms'] },
        resend_cooldown_seconds: [0],
      }
      const since = actor.clock.now()
      const app_id = await createApp(saved)
      const write: Step = { do: 'write', nth: 0 }
      await perform(app_id, [
        call('+14155550001'),
        write,
        write,
        { do: 'resend', nth: 0, kind: 'server', channel: 'sms' },
      ])
      expect(reasons(await replay(app_id, since, saved, saved))).to.deep.equal([])
      const [otp] = await store.docs('otps').find({ app_id, _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 1 })
      const by = { company_id: 'cmp_a', app_id, mode: 'live' as const, key_id: 'key_server', kind: 'server' as const }
      await actor.ask({ type: 'otp.resend', by, otp_id: otp?._id ?? '', channel: 'whatsapp' })
      expect(reasons(await replay(app_id, since, saved, saved))).to.deep.equal([{ reason: 'link_resends', count: 1 }])
    })

    it('which messages a former release sent again, without saying that a call asked for it', async () => {
      const since = actor.clock.now()
      const app_id = await createApp({})
      const again: Step = { do: 'resend', nth: 0, kind: 'server', channel: 'sms' }
      await perform(app_id, [call('+14155550001'), { do: 'wait', ms: 31_000 }, again])
      const [otp] = await store.docs('otps').find({ app_id, _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 1 })
      const deliveries = otp?.context.deliveries.map(({ asked_by: _, ...delivery }) => delivery)
      await store.docs('otps').modify({ _id: otp?._id ?? '' }, { $set: { 'context.deliveries': deliveries } })
      expect(reasons(await replay(app_id, since, {}, {}))).to.deep.equal([{ reason: 'not_recorded', count: 1 }])
    })

    it('which failed messages automatic fallback might send again, by the settings alone', async () => {
      const since = actor.clock.now()
      const app_id = await createApp({ routing: { default: ['sms'] } })
      const later = (nth: number): Step[] => [
        { do: 'verify', nth },
        { do: 'fail', nth },
      ]
      await perform(app_id, [call('+14155550001'), { do: 'fail', nth: 0 }, call('+14155550002'), ...later(1)])
      const saved: SettingsInput = { routing: { default: ['sms'] } }
      const fallsBack = await replay(app_id, since, saved, { ...saved, auto_fallback: true })
      expect(reasons(fallsBack)).to.deep.equal([{ reason: 'auto_fallback', count: 1 }])
    })

    it('that devices would be asked for challenges otherwise, where the guard decides who is', async () => {
      const saved: SettingsInput = {
        publishable_send: true,
        publishable_challenge: 'risk',
        fraud_guard: { mode: 'record' },
        limits: { app_without_client_ip: [{ max: 60, seconds: 60 }] },
      }
      const since = actor.clock.now()
      const app_id = await createApp({ ...saved, publishable_challenge: 'off' })
      await perform(app_id, [{ do: 'send', to: '+14155550001', kind: 'publishable', ip: '8.8.8.8' }])
      const asked = async (tried: SettingsInput) => reasons(await replay(app_id, since, saved, { ...saved, ...tried }))
      const challenges = [{ reason: 'challenges', count: 1 }]
      expect(await asked({ fraud_guard: { mode: 'on' } })).to.deep.equal(challenges)
      expect(await asked({ limits: { app_publishable: [{ max: 5, seconds: 60 }] } })).to.deep.equal(challenges)
      expect(await asked({ send_attempts: 2 })).to.deep.equal([])
    })

    it('that there is too much traffic, and whether a shorter time would help', async () => {
      const app_id = await createApp({})
      await perform(app_id, RECIPIENTS.map(call))
      const since = actor.clock.now()
      await perform(app_id, RECIPIENTS.map(call))
      const told = async (maxCalls: number) => {
        const failure = await replay(app_id, since, {}, {}, { deps: { maxCalls } }).catch(error => error)
        return failure.extras?.members.errors[0]
      }
      expect(await told(2 * RECIPIENTS.length)).to.equal(undefined)
      const [shorter, quieter] = [await told(RECIPIENTS.length), await told(RECIPIENTS.length - 1)]
      expect(shorter).to.include({ path: 'since' })
      expect(shorter.message).to.match(/^begins a time with too much traffic: more than 8 .*\. Try a shorter time$/)
      expect(quieter.message).to.match(/^has too much traffic before it: more than 7 .*: try one with less traffic$/)
    })
  })

  it('with unchanged settings differs in nothing and reproduces every call, also from within a burst', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(reusing, { weight: 2, arbitrary: guarded }),
        traffic(anyStep),
        async (saved, { before, all }) => {
          const app_created_at = actor.clock.now()
          const app_id = await createApp(saved)
          const { since, calls, unasked } = await perform(app_id, all, { before })
          const deps = { pageSize: SMALL_PAGE }
          const { examples, sends, not_judged } = await replay(app_id, since, saved, saved, { deps, app_created_at })
          expect({ examples, not_judged }).to.deep.equal({ examples: [], not_judged: [] })
          expect(sends).to.be.at.most(calls + unasked)
        },
      ),
      { numRuns: propertyRuns(20) },
    )
  })

  const sum = (rows: readonly { count: number }[]) => rows.reduce((all, { count }) => all + count, 0)

  it('with other settings says how many sends these would have accepted, and for how much', async () => {
    await fc.assert(
      fc.asyncProperty(settings, settings, sendsOnly, async (saved, other, all) => {
        const app_id = await createApp(saved)
        const was = await perform(app_id, all)
        const tried = await replay(app_id, was.since, saved, other)
        await waitForSameTime(was.begun_at)
        const otherApp = await createApp(other)
        const live = await perform(otherApp, all)
        expect(was.accepted - sum(tried.refused) + sum(tried.no_longer_refused)).to.equal(live.accepted)
        expect(tried.cost_micros).to.deep.equal({ was: was.paid, would_be: live.paid })
      }),
      { numRuns: propertyRuns(10) },
    )
  })

  it('with settings that changed in the midst of traffic says what these have accepted, and for how much', async () => {
    await fc.assert(
      fc.asyncProperty(changes, traffic(anyStep, laterStep), async ({ saved, tried }, { before, all }) => {
        const performWith = async (settings: SettingsInput) => {
          const app_id = await createApp(saved)
          const change = async () => {
            await store.docs('apps').modify({ _id: app_id }, { $set: { settings } })
            await actor.clock.advance(LONGEST_CACHED_MS)
          }
          return { ...(await perform(app_id, all, { before, change })), app_id }
        }
        const was = await performWith(saved)
        const trial = await replay(was.app_id, was.since, saved, tried, { app_created_at: was.begun_at })
        await waitForSameTime(was.begun_at)
        const live = await performWith(tried)
        expect(was.accepted - sum(trial.refused) + sum(trial.no_longer_refused)).to.equal(live.accepted)
        expect(trial.cost_micros).to.deep.equal({ was: was.paid, would_be: live.paid })
      }),
      { numRuns: propertyRuns(10) },
    )
  })

  /** Windows begin then where they began. */
  async function waitForSameTime(at: number): Promise<void> {
    const week = 7 * 86_400_000
    await actor.clock.advance(week - ((actor.clock.now() - at) % week))
  }
})

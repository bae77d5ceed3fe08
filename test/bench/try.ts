// How long it takes to try settings on many past sends, on each store, and whether unchanged settings differ in
// anything. A week is recorded by a running OTP actor, in virtual time: an app with limits, addresses, approvals,
// resends and people who call too often. The others who call in that week are copies of these: other numbers and
// addresses at the same times, which live rules would have decided alike.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId, ulidTime } from '../../infra/ids.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { trySettings } from '../../services/dashboard/settings-trial/trial.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { type RefusalDoc, refusedPersonContext } from '../../services/domain/refusals/documents.ts'
import { providerContext, providerId } from '../../services/domain/tenancy/documents.ts'
import { resolveSettings, type SettingsInput } from '../../services/domain/tenancy/settings.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { atRest, inFlight } from '../../services/domain/verifications/encryption-context.ts'
import { recipientIndexes } from '../../services/domain/verifications/lookup-indexes.ts'
import { codeOf } from '../../services/domain/verifications/message-content.ts'
import { MONGODB_URL } from '../support/engines.ts'
import { startOtpActor } from '../support/otp.actor.ts'
import { testKeyring } from '../support/tenancy.ts'

const SENDS = Number(process.env.BENCH_SENDS ?? 100_000)
const RECORDED = Math.min(SENDS, 2_000)
const CROWDS = Math.ceil(SENDS / RECORDED)
const SPAN_MS = 6 * 86_400_000
const APP = 'app_a'
const COMPANY = 'cmp_a'
const SETTINGS: SettingsInput = {
  limits: { recipient: [{ max: 2, seconds: 86_400 }], client_ip: [{ max: 5, seconds: 3_600 }] },
}
const TRIED: { name: string; settings: SettingsInput }[] = [
  { name: 'unchanged', settings: SETTINGS },
  {
    name: 'one send a day',
    settings: { limits: { ...SETTINGS.limits, recipient: [{ max: 1, seconds: 86_400 }] } },
  },
  { name: 'fraud guard on', settings: { ...SETTINGS, fraud_guard: { mode: 'on' } } },
  { name: 'WhatsApp first', settings: { ...SETTINGS, routing: { default: ['whatsapp', 'sms'] } } },
]

export default async function tryOut(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-try-'))
  try {
    await measure(
      'embedded',
      createEmbeddedStore({ folder, collections: COLLECTIONS, clock: systemClock, strict: false }),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  if (MONGODB_URL)
    await measure(
      'MongoDB',
      createMongoStore({ url: MONGODB_URL, collections: COLLECTIONS, database: 'countersign_try' }),
    )
}

async function measure(engine: string, store: CountersignStore): Promise<void> {
  const keyring = testKeyring()
  const week = await recordWeek(store, keyring)
  for (let crowd = 1; crowd < CROWDS; crowd += 1) await copyCrowd(store, keyring, week, crowd)
  const { accepted, refused } = week.counts
  console.log(`\n${engine}: ${CROWDS} times ${accepted} sends and resends in a week, and ${refused} refused`)
  for (const { name, settings } of TRIED) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const begun = performance.now()
    const usage = process.cpuUsage()
    const { sends, refused, no_longer_refused, moved, not_judged } = await trySettings(
      { store, keyring },
      {
        app_id: APP,
        saved: resolveSettings(SETTINGS),
        tried: resolveSettings(settings),
        ...week.range,
        now: week.range.until,
        app_created_at: 0,
      },
    )
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    delay.disable()
    const { user, system } = process.cpuUsage(usage)
    const processor = ((user + system) / 1e6).toFixed(1)
    const sum = (rows: readonly { count: number }[]) => rows.reduce((all, { count }) => all + count, 0)
    const left = not_judged.map(({ reason, count }) => `${reason} ${count}`).join(', ') || 'nothing'
    console.log(
      `  ${name.padEnd(24)} ${seconds.padStart(5)} s, ${processor.padStart(5)} s of the processor, for ${sends} calls; refused ${sum(refused)}, let through ${sum(no_longer_refused)}, moved ${sum(moved)}; not judged: ${left}; event loop held ${(delay.max / 1e6).toFixed(0)} ms at most`,
    )
  }
  await store.close()
}

interface Week {
  counts: { accepted: number; refused: number }
  range: { since: number; until: number }
  otps: OtpDoc[]
  refusals: RefusalDoc[]
}

async function recordWeek(store: CountersignStore, keyring: Keyring): Promise<Week> {
  await store
    .docs('apps')
    .insert([{ _id: APP, company_id: COMPANY, name: 'A', settings: SETTINGS, created_at: 0, rev: 1 }])
  const config = JSON.stringify({ url: 'https://gateway.example', body: { text: '{{text}}' } })
  await store.docs('providers').insert(
    (['sms', 'whatsapp'] as const).map((channel, position) => {
      const _id = providerId(APP, channel)
      const sealed = keyring.seal(config, providerContext(_id))
      return { _id, app_id: APP, name: channel, channel, type: 'http' as const, position, config: sealed, rev: 1 }
    }),
  )
  const { ask, clock, close } = await startOtpActor(store, keyring)
  const by = { company_id: COMPANY, app_id: APP, mode: 'live' as const, key_id: 'key_a', kind: 'server' as const }
  const since = clock.now()
  const counts = { accepted: 0, refused: 0 }
  let seed = 1
  const draw = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let nth = 0; nth < RECORDED; nth += 1) {
    await clock.advance(1 + draw((2 * SPAN_MS) / RECORDED))
    // One in ten calls comes from the few who call again and again.
    const person = nth % 10 === 0 ? draw(5) : 100 + draw(50_000)
    const answer = await ask({
      type: 'otp.send',
      by,
      otp_id: newId('otp', clock.now()),
      locale: null,
      sealed_client_ip: keyring.seal(
        `${addressesOf(0)}${person >> 16}.${(person >> 8) & 255}.${person & 255}`,
        inFlight.clientIp,
      ),
      claim: null,
      sealed_recipient: keyring.seal(`${numbersOf(0)}${String(person).padStart(5, '0')}`, inFlight.recipient),
    })
    counts[answer.kind === 'verification' ? 'accepted' : 'refused'] += 1
    if (answer.kind !== 'verification') continue
    const { otp_id } = answer.verification
    if (nth % 7 === 0) {
      await clock.advance(31_000)
      const resent = await ask({ type: 'otp.resend', by, otp_id, channel: null })
      counts[resent.kind === 'verification' ? 'accepted' : 'refused'] += 1
    }
    if (nth % 3 > 0) continue
    const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
    if (doc)
      await ask({
        type: 'otp.verify',
        by,
        otp_id,
        sealed_code: keyring.seal(codeOf(keyring, doc.context), inFlight.code),
      })
  }
  await close()
  const all = { sort: { _id: 1 }, limit: 2 * RECORDED } as const
  return {
    counts,
    range: { since, until: clock.now() + 1 },
    otps: await store.docs('otps').find({ app_id: APP, _id: { $gte: '' } }, all),
    refusals: await store.docs('refusals').find({ app_id: APP, _id: { $gte: '' } }, all),
  }
}

/** How the numbers and the client addresses of a crowd begin: 50 crowds for each last digit. */
const numbersOf = (crowd: number): string =>
  `+4479${'02456'[Math.floor(crowd / 10) % 5]}${crowd % 10}${1 + Math.floor(crowd / 50)}`
const addressesOf = (crowd: number): string => `${81 + crowd}.`

/** The recorded week once more, with other people: verifications and refusals of their own. */
async function copyCrowd(
  store: CountersignStore,
  keyring: Keyring,
  { otps, refusals }: Week,
  crowd: number,
): Promise<void> {
  const inCrowd = (text: string): string =>
    text.replace(numbersOf(0), numbersOf(crowd)).replace(addressesOf(0), addressesOf(crowd))
  const indexOf = (number: string): string => recipientIndexes(keyring, { app_id: APP, mode: 'live' }, number)[0] ?? ''
  const ids = new Map(otps.map(({ _id }) => [_id, newId('otp', ulidTime(_id) ?? 0)]))
  const copiedOtps = otps.map((doc): OtpDoc => {
    const { _id: from, context } = doc
    const to = ids.get(from) ?? ''
    const resealed = (sealed: string, at: (id: string) => string): string =>
      keyring.seal(inCrowd(keyring.unseal(sealed, at(from))), at(to))
    const sealed = resealed(context.recipient.sealed, atRest.recipient)
    const index = indexOf(keyring.unseal(sealed, atRest.recipient(to)))
    const recipient = { ...context.recipient, sealed, index }
    const client_ip = context.client_ip === null ? null : resealed(context.client_ip, atRest.clientIp)
    return { ...doc, _id: to, recipient: index, context: { ...context, otp_id: to, recipient, client_ip } }
  })
  const copiedRefusals = refusals.map((doc): RefusalDoc => {
    const _id = newId('rfs', ulidTime(doc._id) ?? 0)
    const { judged } = doc
    if (judged === undefined) return { ...doc, _id }
    const otp_id = judged.otp_id && { otp_id: ids.get(judged.otp_id) ?? '' }
    if (judged.sealed === undefined) return { ...doc, _id, judged: { ...judged, ...otp_id } }
    const person = inCrowd(keyring.unseal(judged.sealed, refusedPersonContext(doc._id)))
    const sealed = keyring.seal(person, refusedPersonContext(_id))
    return { ...doc, _id, recipient: indexOf(JSON.parse(person).recipient), judged: { ...judged, ...otp_id, sealed } }
  })
  await store.docs('otps').insert(copiedOtps)
  await store.docs('refusals').insert(copiedRefusals)
}

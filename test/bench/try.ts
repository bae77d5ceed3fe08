// How long it takes to try settings on many past sends, on each store, and whether unchanged settings differ in anything. A week is recorded
// by a running OTP actor, in virtual time: an app with limits, addresses, approvals, resends and people who call too often. Further weeks
// are copies of it: windows end within a day, so that live rules would have decided them alike.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import { firstIdAt, newId, ulidTime } from '../../infra/ids.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { trySettings } from '../../services/dashboard/settings-trial/trial.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { type RefusalDoc, refusedPersonContext } from '../../services/domain/refusals/documents.ts'
import { providerContext, providerId } from '../../services/domain/tenancy/documents.ts'
import { resolveSettings, type SettingsInput } from '../../services/domain/tenancy/settings.ts'
import { codeOf } from '../../services/domain/verifications/code.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { atRest, inFlight } from '../../services/domain/verifications/encryption-context.ts'
import { MONGODB_URL } from '../support/engines.ts'
import { startOtpActor } from '../support/otp.actor.ts'
import { testKeyring } from '../support/tenancy.ts'

const SENDS = Number(process.env.BENCH_SENDS ?? 100_000)
const RECORDED = Math.min(SENDS, 2_000)
const WEEKS = Math.ceil(SENDS / RECORDED)
const WEEK_MS = 7 * 86_400_000
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
  { name: 'WhatsApp first', settings: { ...SETTINGS, routing: { default: ['whatsapp', 'sms'] } } },
]

export default async function tryOut(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-try-'))
  try {
    await measure('embedded', createEmbeddedStore({ folder, collections: COLLECTIONS, clock: systemClock }))
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
  const record = await recordWeek(store, keyring)
  for (let week = 1; week < WEEKS; week += 1) await copyWeek(store, keyring, record.range, week * WEEK_MS)
  const range = { since: record.range.since, until: record.range.until + (WEEKS - 1) * WEEK_MS }
  console.log(`\n${engine}: ${record.accepted} sends and resends, ${record.refused} refused, in each of ${WEEKS} weeks`)
  for (const { name, settings } of TRIED) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const begun = performance.now()
    const usage = process.cpuUsage()
    const { sends, refused, no_longer_refused, moved, not_judged } = await trySettings(
      { store, keyring },
      { app_id: APP, saved: resolveSettings(SETTINGS), tried: resolveSettings(settings), ...range },
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

async function recordWeek(store: CountersignStore, keyring: ReturnType<typeof testKeyring>) {
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
    await clock.advance(1 + draw((2 * 86_400_000 * 6) / RECORDED))
    // One in ten calls comes from the few who call again and again.
    const person = nth % 10 === 0 ? draw(5) : 100 + draw(50_000)
    const answer = await ask({
      type: 'otp.send',
      by,
      otp_id: newId('otp', clock.now()),
      locale: null,
      sealed_client_ip: keyring.seal(`81.${person >> 16}.${(person >> 8) & 255}.${person & 255}`, inFlight.clientIp),
      claim: null,
      sealed_recipient: keyring.seal(`+4479111${String(person).padStart(5, '0')}`, inFlight.recipient),
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
  return { ...counts, range: { since, until: clock.now() + 1 } }
}

/** The recorded week again, later: the same people, in verifications and refusals of their own. */
async function copyWeek(
  store: CountersignStore,
  keyring: ReturnType<typeof testKeyring>,
  { since, until }: { since: number; until: number },
  later: number,
): Promise<void> {
  const idLater = (prefix: 'otp' | 'rfs', id: string): string => newId(prefix, (ulidTime(id) ?? 0) + later)
  const range = (prefix: 'otp' | 'rfs') => ({ _id: { $gte: firstIdAt(prefix, since), $lt: firstIdAt(prefix, until) } })
  const ids = new Map<string, string>()
  const otps: OtpDoc[] = []
  const recorded = store.docs('otps').find({ app_id: APP, ...range('otp') }, { sort: { _id: 1 }, limit: 100_000 })
  for (const doc of await recorded) {
    const _id = idLater('otp', doc._id)
    ids.set(doc._id, _id)
    const { context } = doc
    const { recipient, client_ip, deliveries, approval } = context
    const again = (sealed: string, at: (id: string) => string): string =>
      keyring.seal(keyring.unseal(sealed, at(doc._id)), at(_id))
    otps.push({
      ...doc,
      _id,
      created_at: doc.created_at + later,
      context: {
        ...context,
        otp_id: _id,
        recipient: { ...recipient, sealed: again(recipient.sealed, atRest.recipient) },
        client_ip: client_ip === null ? null : again(client_ip, atRest.clientIp),
        first_sent_at: context.first_sent_at + later,
        last_sent_at: context.last_sent_at + later,
        expires_at: context.expires_at + later,
        deliveries: deliveries.map(one => ({
          ...one,
          created_at: one.created_at + later,
          updated_at: one.updated_at + later,
        })),
        approval: approval && { ...approval, at: approval.at + later },
      },
    })
  }
  const refusals: RefusalDoc[] = []
  for (const doc of await store
    .docs('refusals')
    .find({ app_id: APP, ...range('rfs') }, { sort: { _id: 1 }, limit: 100_000 })) {
    const _id = idLater('rfs', doc._id)
    const { judged } = doc
    const sealed =
      judged?.sealed &&
      keyring.seal(keyring.unseal(judged.sealed, refusedPersonContext(doc._id)), refusedPersonContext(_id))
    const copied = judged && {
      ...judged,
      ...(sealed && { sealed }),
      ...(judged.otp_id && { otp_id: ids.get(judged.otp_id) ?? '' }),
    }
    refusals.push({ ...doc, _id, at: doc.at + later, ...(copied && { judged: copied }) })
  }
  await store.docs('otps').insert(otps)
  await store.docs('refusals').insert(refusals)
}

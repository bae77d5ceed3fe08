// An app whose devices send in live mode, played in virtual time: the real calls, limits and fraud guard of some OTP processes on one
// embedded store, with one clock. No message leaves, and there is no HTTP.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import { newId } from '../../infra/ids.ts'
import { createMetrics } from '../../infra/metrics.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import type { TallyEntry } from '../../machines/fraud.tally.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { tallyId } from '../../services/domain/fraud/documents.ts'
import { createAccounts } from '../../services/domain/money/accounts.ts'
import { createOptOuts } from '../../services/domain/recipients/opt-outs.ts'
import { createTenancy } from '../../services/domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { inFlight } from '../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../services/domain/verifications/message-content.ts'
import { createAppCache } from '../../services/otp/apps.ts'
import { createCallHandler } from '../../services/otp/calls/call-handler.ts'
import { createClaims } from '../../services/otp/calls/idempotency-claims.ts'
import { createCommit } from '../../services/otp/commit.ts'
import { createFraudCounts } from '../../services/otp/fraud/counts.ts'
import { createFraudGuard } from '../../services/otp/fraud/guard.ts'
import { createFunds } from '../../services/otp/funds.ts'
import { createLimits } from '../../services/otp/limits/limits.ts'
import { createReputationLookup } from '../../services/otp/limits/reputation.ts'
import { NO_RESERVATION } from '../../services/otp/reservation.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { testKeyring } from '../support/tenancy.ts'

const APP = 'app_bench'
const BY = { company_id: 'cmp_bench', app_id: APP, mode: 'live', key_id: 'key_bench', kind: 'publishable' } as const
export const VPN_NETWORKS = Array.from({ length: 20 }, (_, nth) => `185.220.${nth}`)

/** What became of a call: `challenged` when it was asked for a challenge and did not solve it. */
type Result = 'sent' | 'challenged' | `refused: ${string}`

export interface Call {
  result: Result
  /** Whether it was asked for a challenge. */
  asked: boolean
  otp_id: string
}

interface Caller {
  recipient: string
  address: string | null
  /** Whether the caller solves challenges. */
  solves: boolean
}

export interface Simulation {
  clock: TestClock
  /** Runs `task` at a time, in order. */
  at(ms: number, task: () => Promise<void> | void): void
  /** Plays all tasks up to this time. */
  play(until: number): Promise<void>
  send(caller: Caller): Promise<Call>
  resend(caller: Caller, otp_id: string): Promise<Call>
  verify(otp_id: string): Promise<void>
  /** Tells the fraud guard of past messages to a group of numbers. */
  remember(name: string, entries: readonly TallyEntry[]): Promise<void>
  close(): Promise<void>
}

interface SimulationOptions {
  processes: number
  settings?: object
}

export async function startSimulation({ processes, settings = {} }: SimulationOptions): Promise<Simulation> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-fraud-'))
  const clock = testClock(Date.UTC(2030, 0, 15, 12))
  const store: CountersignStore = createEmbeddedStore({ folder, collections: COLLECTIONS, clock, strict: true })
  const keyring = testKeyring()
  const channels = ['sms', 'whatsapp', 'email'].map(channel => ({
    name: channel,
    channel,
    type: 'sandbox',
    config: {},
  }))
  const app = { id: APP, name: 'Shop', settings: { publishable_send: true, ...settings }, providers: channels }
  const companies = [{ id: 'cmp_bench', name: 'Shop', apps: [app] }]
  const ip_lists = VPN_NETWORKS.map(network => ({ class: 'vpn', cidr: `${network}.0/24` }))
  await applyBootstrap(readBootstrap(JSON.stringify({ companies, ip_lists })), { store, keyring, clock })

  let calls = 0
  /** The part of services/otp/service.ts that answers calls. */
  function startProcess() {
    const { log, output } = createCapturedLog()
    const apps = createAppCache({ tenancy: createTenancy({ store, keyring, clock }), clock })
    const otps = batchDocs(store.docs('otps'))
    const recentOtps = createBoundedMap<OtpDoc>(1_000)
    const limits = createLimits({ counters: batchDocs(store.docs('counters')), clock })
    const reputation = createReputationLookup({ store, clock, log })
    const accounts = createAccounts({ store, clock, log })
    const funds = createFunds({ accounts, prices: store.docs('prices'), clock })
    const counts = createFraudCounts({ store, clock, log })
    const metrics = createMetrics()
    const decisions = { record: () => {} }
    const guard = createFraudGuard({ keyring, clock, log, limits, apps, reputation, counts, decisions, metrics })
    // No message is delivered.
    const relay = { publish: () => {}, published: () => [], removed: () => {} }
    let solvedHardest = false
    const onChange = guard.onChange
    const answer = createCallHandler({
      isAskedFor: async () => false,
      isBusy: () => false,
      keyring,
      clock,
      log,
      apps,
      otps,
      joinedIds: store.docs('joined_ids'),
      metadataIndexes: store.docs('metadata_indexes'),
      recentOtps,
      optOuts: createOptOuts({ rules: store.docs('recipient_rules'), keyring }),
      claims: createClaims({ claims: batchDocs(store.docs('claims')), otps, clock }),
      relay,
      limits,
      reputation,
      funds,
      guard,
      // Solved below, without the work: the bench counts how often a challenge is asked for.
      challenges: { check: async () => ({ ...NO_RESERVATION, solvedHardest, evidence: null }) },
      refusals: { record: () => {} },
      commit: createCommit({ otps, joinedIds: store.docs('joined_ids'), relay, recentOtps, clock, onChange }),
      onChange,
    })

    /** Asks the guard first, as the challenge does. */
    async function call({ recipient, address, solves }: Caller, otp_id: string, body: OtpCall): Promise<Call> {
      const app = await apps.get(APP)
      if (!app) throw new Error('the app is gone')
      const judged = address === null ? null : { value: address, reputation: await reputation(address) }
      const { asked, pressure } = await guard.challengeNeed({ by: BY, app, recipient, address: judged })
      if (asked && !solves) return { result: 'challenged', asked, otp_id }
      solvedHardest = asked && pressure >= 1
      return { result: resultOf(await execute(body)), asked, otp_id }
    }
    const execute = async (body: OtpCall): Promise<OtpAnswer> => {
      calls += 1
      const answered = await answer({ id: `call ${calls}`, body, expired: () => false })
      if (answered.kind === 'broken') throw new Error(output())
      return answered
    }
    return { call, execute, counts, otps }
  }

  const all = Array.from({ length: processes }, startProcess)
  let turn = 0
  const next = () => {
    turn += 1
    return all[turn % all.length] as ReturnType<typeof startProcess>
  }
  const tasks: { at: number; task: () => Promise<void> | void }[] = []

  return {
    clock,
    at: (at, task) => void tasks.push({ at, task }),
    async play(until) {
      for (;;) {
        tasks.sort((one, other) => other.at - one.at)
        const due = tasks.at(-1)
        if (!due || due.at > until) break
        tasks.pop()
        if (due.at > clock.now()) await clock.advance(due.at - clock.now())
        await due.task()
      }
      await clock.advance(Math.max(0, until - clock.now()))
    },
    send(caller) {
      const otp_id = newId('otp', clock.now())
      return next().call(caller, otp_id, {
        type: 'otp.send',
        by: BY,
        otp_id,
        sealed_recipient: keyring.seal(caller.recipient, inFlight.recipient),
        locale: null,
        sealed_client_ip: caller.address === null ? null : keyring.seal(caller.address, inFlight.clientIp),
        claim: null,
      })
    },
    resend: (caller, otp_id) => next().call(caller, otp_id, { type: 'otp.resend', by: BY, otp_id, channel: null }),
    async verify(otp_id) {
      const { execute, otps } = next()
      const doc = (await otps.get([otp_id])).get(otp_id)
      if (!doc) throw new Error('the verification is gone')
      const sealed_code = keyring.seal(codeOf(keyring, doc.context), inFlight.code)
      await execute({ type: 'otp.verify', by: BY, otp_id, sealed_code })
    },
    async remember(name, entries) {
      const { counts } = all[0] as ReturnType<typeof startProcess>
      for (const entry of entries) counts.tallies.add(tallyId(BY, name), APP, entry)
      await counts.settled()
    },
    async close() {
      for (const { counts } of all) await counts.settled()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const resultOf = (answer: OtpAnswer): Result => {
  if (answer.kind === 'verification') return 'sent'
  return answer.kind === 'refused' ? `refused: ${answer.scope ?? answer.error}` : `refused: ${answer.kind}`
}

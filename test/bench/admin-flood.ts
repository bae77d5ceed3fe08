// A company does its worst at the admin API beside another that sends, all in one process on embedded engines: callers
// that change settings as large as they may be, and viewers of the audit log. Out: how long everybody waits, quietly
// and meanwhile, how long the process holds its event loop at a time, and its memory. `admin-flood -- --against <checkout>` runs the process of another
// checkout instead, which must be built (`npm run build:test`).
import { Buffer } from 'node:buffer'
import { constants, setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createSessions, csrfTokenOf } from '../../services/dashboard/sign-in/sessions.ts'
import { COLLECTIONS } from '../../services/domain/collections.ts'
import type { UserRole } from '../../services/domain/users/documents.ts'
import type { Child } from '../support/child.ts'
import type { Env, Site } from '../support/site.ts'
import { addUser, testGrants } from '../support/users.ts'
import { quantile } from './measure.ts'
import { offerOpenLoop } from './open-loop.ts'
import { ALL_IN_ONE, startCountersign } from './systems.ts'
import { useAndClose } from './under-load.ts'
import { memoryMiB } from './usage.ts'

const CALLERS = Number(process.env.BENCH_CALLERS ?? 64)
const FLOOD_MS = Number(process.env.BENCH_FLOOD_MS ?? 60_000)
const QUIET_MS = Number(process.env.BENCH_QUIET_MS ?? 20_000)
const SENDS_PER_SECOND = Number(process.env.BENCH_SENDS_PER_SECOND ?? 20)
const HEAP_MB = 256
const COMPANY = 'cmp_flood'
const APP = 'app_flood'
const AIM = 2

const KEY = 'the-test-key-of-the-sender'
const NO_LIMIT = [{ max: 1_000_000_000, seconds: 60 }]
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_sender',
      apps: [
        {
          id: 'app_sender',
          keys: [{ id: 'key_sender', kind: 'server', mode: 'test', key: KEY }],
          settings: { limits: { app: NO_LIMIT, app_without_client_ip: NO_LIMIT } },
        },
      ],
    },
    { id: COMPANY, apps: [{ id: APP, keys: [] }] },
  ],
}

interface Visitor {
  cookie: string
  csrf: string
}

type Times = Record<string, number[]>

export default async function adminFlood(): Promise<void> {
  const at = process.argv.indexOf('--against')
  const checkout = resolve(process.argv[at < 0 ? -1 : at + 1] ?? '.')
  const launch = {
    ...(at < 0 ? {} : { folder: join(checkout, 'dist/test/bench') }),
    flags: [`--max-old-space-size=${HEAP_MB}`, '--import', join(import.meta.dirname, 'holds.preload.js')],
  }
  const visitors: Visitor[] = []
  const prepare = async ({ env }: Site): Promise<void> => {
    for (const role of ['developer', 'viewer'] as const) visitors.push(await signInAs(role, env))
  }
  await useAndClose(
    [startCountersign('embedded', ALL_IN_ONE, { bootstrap: BOOTSTRAP, prepare, launch })],
    async ([{ url, processes }]) => {
      const [child] = processes as [Child]
      const pid = child.process.pid ?? 0
      const [developer, viewer] = visitors as [Visitor, Visitor]
      const sending = (measureMs: number) =>
        offerOpenLoop({ url, key: KEY, perSecond: SENDS_PER_SECOND, measureMs, patienceMs: 15_000 })
      const ended = child.exited.then(() => 'THE PROCESS ENDED')
      await sending(QUIET_MS)
      const quiet = await sending(QUIET_MS)
      console.log(
        `  quiet   sends p50 ${ms(quiet.accepted.p50)}, p99 ${ms(quiet.accepted.p99)}; ${await askHolds(child)}; ${memory(pid)}`,
      )
      const sends = sending(FLOOD_MS)
      // The callers of a real flood run elsewhere: here they get what the process and its sends leave of the processors.
      setPriority(constants.priority.PRIORITY_LOW)
      const until = performance.now() + FLOOD_MS
      const times: Times = {}
      const flood = [
        ...Array.from({ length: CALLERS }, (_, nth) => patchAgain(url, developer, nth, until, times)),
        ...[1, 2].map(() => readAgain(url, viewer, until, times)),
      ]
      const during = await Promise.race([sends, ended])
      if (typeof during !== 'object') return console.log(`  ${during}`)
      await Promise.all(flood)
      const ratio = during.accepted.p99 / quiet.accepted.p99
      // A quantile of nothing says nothing.
      const isMet = during.accepted.count > 0 && quiet.accepted.count > 0 && ratio <= AIM
      console.log(
        `  flood   sends p50 ${ms(during.accepted.p50)}, p99 ${ms(during.accepted.p99)}: ${ratio.toFixed(1)} × quiet, aim ≤ ${AIM}: ${isMet ? 'met' : 'MISSED'}; accepted ${during.accepted.count}, refused ${during.refused.count}, unanswered ${during.unanswered}; ${await askHolds(child)}; ${memory(pid)}`,
      )
      for (const [what, all] of Object.entries(times).sort())
        console.log(`    ${what.padEnd(22)} ${String(all.length).padStart(6)} times, p99 ${ms(quantile(all, 0.99))}`)
    },
  )
}

async function signInAs(role: UserRole, env: Env): Promise<Visitor> {
  const keysIn = (text = '') => text.split(',').map(one => one.split(':') as [string, string])
  const parsed = (text?: string) => keysIn(text).map(([id, key]) => ({ id, key: Buffer.from(key, 'base64') }))
  const keyring = createKeyring({ dataKeys: parsed(env.DATA_KEYS), codeSecrets: parsed(env.CODE_SECRETS) })
  const store = createEmbeddedStore({ folder: env.DATA_DIR ?? '', collections: COLLECTIONS, clock: systemClock })
  const user = await addUser(store, COMPANY, role, keyring)
  const grants = testGrants(keyring)
  const sessions = createSessions({ store, keyring, grants, clock: systemClock, operators: [] })
  const { session, token } = sessions.create({ user }, 'bench')
  await sessions.insert(session)
  await store.close()
  return { cookie: `countersign_session=${token}`, csrf: csrfTokenOf(token) }
}

/** Texts of the longest kind, with many pieces in which links are looked for. They differ each time. */
const settingsOf = (nth: number) => {
  const text = (length: number) => `{code}${String(nth % 10).repeat(3)}${'a'.repeat(length)}`
  const languages = Array.from({ length: 80 }, (_, at) => `en-x-${at}`)
  return {
    texts: {
      whatsapp: Object.fromEntries(languages.map(tag => [tag, { text: text(950) }])),
      email: Object.fromEntries(['de', 'fr', 'it'].map(tag => [tag, { text: '{code}', html: text(49_000) }])),
    },
  }
}

async function patchAgain(url: string, by: Visitor, nth: number, until: number, times: Times): Promise<void> {
  for (let turn = nth; performance.now() < until; turn += 1) {
    const body = JSON.stringify({ settings: settingsOf(turn) })
    await timed(times, `PATCH`, `${url}/admin/v1/apps/${APP}`, { method: 'PATCH', body, headers: headersOf(url, by) })
  }
}

async function readAgain(url: string, by: Visitor, until: number, times: Times): Promise<void> {
  while (performance.now() < until)
    await timed(times, 'GET /audit', `${url}/admin/v1/audit?limit=100`, { headers: headersOf(url, by) })
}

const headersOf = (origin: string, { cookie, csrf }: Visitor) => ({
  Cookie: cookie,
  Origin: origin,
  'X-CSRF-Token': csrf,
  'Content-Type': 'application/json',
})

async function timed(times: Times, what: string, url: string, init: RequestInit): Promise<void> {
  const begun = performance.now()
  const status = await fetch(url, init).then(
    async response => {
      await response.arrayBuffer()
      return response.status
    },
    () => 'no answer',
  )
  const name = `${what} ${status}`
  times[name] ??= []
  times[name].push(performance.now() - begun)
}

/** See holds.preload.ts. */
async function askHolds({ process, lines, waitForLine }: Child): Promise<string> {
  const isHolds = (line: string) => line.startsWith('{"asked"')
  const asked = lines.filter(isHolds).length + 1
  process.kill('SIGWINCH')
  const { longest, long } = JSON.parse(await waitForLine(line => line.startsWith(`{"asked":${asked},`)))
  return `held the loop for ${longest.join(', ')} ms at most, ${long} times over 20 ms`
}

const ms = (value: number): string => (Number.isFinite(value) ? `${Math.round(value)} ms` : '-')
const memory = (pid: number): string =>
  `memory ${Math.round(memoryMiB(pid))} MiB, at most ${Math.round(memoryMiB(pid, 'most'))} MiB`

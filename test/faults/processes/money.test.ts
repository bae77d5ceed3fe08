// Live sends with all that may happen to them, while prices change and the process is killed (-9): at the end the ledger, its file, the
// balance, the statement and the verifications say the same, and every difference between what the gateways accepted and what was charged
// is explained. MONEY_SENDS=6000 (`npm run test:money`) makes it long.
import process from 'node:process'
import { expect } from 'chai'
import type { CrashPoint } from '../../support/crash.ts'
import { csvItems } from '../../support/csv.ts'
import { eventually } from '../../support/eventually.ts'
import { createMoneyRun, type Entry, MONEY_COMPANIES, type MoneyRun } from '../../support/money-run.ts'
import { type CountersignProcess, useProcesses } from '../../support/processes.ts'
import { type Env, onEachEngineSet, type Site } from '../../support/site.ts'

const SENDS = Number(process.env.MONEY_SENDS ?? 180)
const HOUR_MS = 3_600_000
const WITHIN_MS = 600_000
/** Between the record of a call and the call, between the call and its result, and anywhere. The last one is for long runs. */
const KILLS: (CrashPoint | undefined)[] = [
  { port: 'store', method: 'attempts.insert', nth: Math.ceil(SENDS / 12), when: 'after' },
  { port: 'store', method: 'attempts.update', nth: Math.ceil(SENDS / 12), when: 'before' },
  ...(SENDS >= 1_000 ? [undefined] : []),
]
const SITE_ENV = {
  ADMIN_TOKEN: 'a-token-of-the-operator',
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  LOG_LEVEL: 'info',
  CHANNEL_BACKOFF: '200,400',
  PROVIDER_TIMEOUT: '2000',
  UNKNOWN_WAIT: '500',
}

const sum = (entries: readonly { micros: number }[]): number => entries.reduce((total, one) => total + one.micros, 0)
const isPaid = ({ status, charge }: { status: string; charge?: string }): boolean =>
  status !== 'failed' || charge !== undefined

onEachEngineSet('the money of many sends', engines => {
  const { site, crashing } = useProcesses()
  let run: MoneyRun | undefined
  afterEach(async () => run?.close())

  it('adds up to the micro after kills, and every difference to what the gateways accepted is explained', async function () {
    // Half a second for each send, on a busy machine.
    this.timeout(3 * WITHIN_MS + SENDS * 500)
    const here = await site(engines, SITE_ENV)
    const made = await createMoneyRun(here, SENDS)
    run = made
    const startedAt = Date.now()
    let kills = 0

    async function start(point?: CrashPoint, env: Env = {}): Promise<CountersignProcess> {
      const running = crashing(here, { point, env: kills === 0 ? { ...made.env, ...env } : env })
      // It may die before it listens. Calls are repeated until it is ready, which may take minutes on a busy machine.
      // The first one knows its keys once it has read the bootstrap file.
      const url = kills === 0 ? running.ready() : running.url()
      await Promise.race([url.then(made.setUrl, () => running.exited), running.exited])
      return running
    }

    async function killAndRestart(): Promise<CountersignProcess> {
      for (const point of KILLS) {
        const running = await start(point)
        await Promise.race([running.exited, made.untilPlayed((kills + 1) / (KILLS.length + 1))])
        await running.kill()
        kills += 1
      }
      return start()
    }

    const [last] = await Promise.all([killAndRestart(), made.play()])
    await eventually(async () => {
      for (const company of MONEY_COMPANIES)
        for (const { deliveries } of await made.verifications(company))
          expect(deliveries.map(({ status }) => status)).not.to.include('queued')
    }, WITHIN_MS)
    await stop(last)
    const playedMs = Date.now() - startedAt

    // Twice, because what the sweepers enter after the first leap is settled after the second.
    for (const leapMs of [5 * HOUR_MS, 10 * HOUR_MS]) {
      const later = await start(undefined, { SINCE: String(Date.now() - leapMs / 4) })
      const now = Date.now() + leapMs
      await eventually(async () => {
        for (const company of MONEY_COMPANIES) await expectSettled(made, company, now - 3.5 * HOUR_MS)
      }, WITHIN_MS)
      if (leapMs > 5 * HOUR_MS) await expectAllExplained(made, { engines, kills, playedMs })
      await stop(later)
    }
  })
})

async function stop(running: CountersignProcess): Promise<void> {
  running.process.kill('SIGTERM')
  expect(await running.exited).to.deep.equal({ code: 0, signal: null })
}

/** All in the month of the run, and in the next one if it began meanwhile. */
const months = (): string[] => [
  ...new Set([0, 15 * HOUR_MS].map(later => new Date(Date.now() + later).toISOString().slice(0, 7))),
]

async function expectSettled(run: MoneyRun, company: (typeof MONEY_COMPANIES)[number], until: number): Promise<void> {
  const [statement] = await run.statements(company, months())
  expect(statement?.settled_until).to.equal(await run.lastEntryBefore(company, until))
  expect(await run.problems(company)).to.deep.equal([])
}

const countOf = (counts: Record<string, number>, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1
}

async function expectAllExplained(run: MoneyRun, told: { engines: Site['engines']; kills: number; playedMs: number }) {
  const accepted = run.accepted()
  const entriesByDelivery = new Map<string, Entry[]>()
  const listed = new Map<string, string>()
  for (const company of MONEY_COMPANIES) {
    const entries = await run.ledger(company)
    const balance = await run.balance(company)
    expect(sum(entries), 'the ledger').to.equal(balance)
    expect(entries.at(-1)?.balance_after).to.equal(balance)
    const lines = csvItems(await run.ledgerFile(company))
    expect(sum(lines.map(({ micros }) => ({ micros: Number(micros) }))), 'the file').to.equal(balance)
    expect(lines).to.have.length(entries.length)

    const statements = await run.statements(company, months())
    expect(statements.at(-1)?.closing_micros, 'the statement').to.equal(balance)
    for (const one of statements) {
      const { opening_micros, credits_micros, charges_micros, refunds_micros, recharges_micros } = one
      const total = opening_micros + credits_micros + charges_micros + refunds_micros + recharges_micros
      expect(total).to.equal(one.closing_micros)
      const inRows = one.rows.map(row => row.charged_micros + row.refunded_micros + row.recharged_micros)
      expect(inRows.reduce((all, row) => all + row, 0)).to.equal(charges_micros + refunds_micros + recharges_micros)
    }
    expect(entries.reduce((count, { exceptions }) => count + exceptions.length, 0)).to.equal(
      statements.reduce((count, { exception_count }) => count + exception_count, 0),
    )
    for (const entry of entries) {
      for (const kind of entry.exceptions)
        if (entry.delivery_id !== null && kind !== 'overdrawn') listed.set(entry.delivery_id, kind)
      if (entry.kind === 'hold') expect(entry.balance_after, 'after a send').to.be.at.least(0)
      if (entry.delivery_id === null) continue
      entriesByDelivery.set(entry.delivery_id, [...(entriesByDelivery.get(entry.delivery_id) ?? []), entry])
    }

    const verifications = await run.verifications(company)
    const spent = verifications.flatMap(({ deliveries }) => deliveries)
    for (const delivery of spent)
      expect(sum(entriesByDelivery.get(delivery.delivery_id) ?? []), delivery.delivery_id).to.equal(
        isPaid(delivery) ? -delivery.micros : 0,
      )
    const known = new Set(spent.map(({ delivery_id }) => delivery_id))
    const gone = entries.filter(({ delivery_id }) => delivery_id !== null && !known.has(delivery_id))
    for (const { delivery_id, kind } of gone)
      if (kind === 'hold')
        expect(entriesByDelivery.get(delivery_id ?? '')?.map(entry => entry.kind)).to.satisfy(
          ([, next]: string[]) => next === 'void' || next === 'refund',
          'a hold without a verification was settled',
        )
    const credits = sum(entries.filter(({ kind }) => kind === 'credit'))
    const paid = spent.filter(isPaid).map(({ micros }) => ({ micros: -micros }))
    expect(credits + sum(paid) + sum(gone), 'the verifications').to.equal(balance)
  }

  const counts: Record<string, number> = {}
  const unexplained: string[] = []
  for (const delivery_id of new Set([...accepted.keys(), ...entriesByDelivery.keys()])) {
    const entries = entriesByDelivery.get(delivery_id) ?? []
    const calls = accepted.get(delivery_id) ?? 0
    if (calls > 0) expect(entries[0]?.kind, `${delivery_id} was sent`).to.equal('hold')
    const charged = sum(entries) < 0 ? 1 : 0
    const kind = listed.get(delivery_id)
    if (calls === charged) countOf(counts, kind ? `no difference, ${kind}` : 'no difference')
    else if (kind) countOf(counts, `${calls} accepted, ${charged} charged: ${kind}`)
    else if (calls - 1 === charged && run.reportedFailed.has(delivery_id))
      countOf(counts, `${calls} accepted, ${charged} charged: its gateway said that it failed`)
    else unexplained.push(`${delivery_id}: ${calls} accepted, ${charged} charged, ${entries.map(one => one.kind)}`)
  }
  process.stdout.write(`      ${JSON.stringify({ ...told, sends: SENDS, refusals: run.refusals, counts }, null, 2)}\n`)
  expect(unexplained).to.deep.equal([])
}

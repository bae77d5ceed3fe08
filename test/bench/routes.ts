// Learned routes against the listed order and an oracle, in virtual time. The same seed gives the same figures. The tables are in
// docs/routes-simulation.md.
import process from 'node:process'
import { DAY_MS, HOUR_MS } from '../../infra/time.ts'
import { MIN_MESSAGES, MIN_SHARE } from '../../machines/routes.order.ts'
import {
  type Country,
  countAlarms,
  countAlarmsByMessage,
  type Outage,
  type Policy,
  play,
  playFlood,
  playSilence,
  playTrouble,
  type SimulatedProvider,
  START,
} from './routes.simulation.ts'

const SEED = Number(process.env.BENCH_SEED ?? 1)
const RUNS = Number(process.env.BENCH_RUNS ?? 5)
const POLICIES: readonly Policy[] = ['plain', 'listed', 'best', 'oracle']

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const verdict = (holds: boolean): string => (holds ? 'met' : 'MISSED')
const seeds = (count: number): number[] => Array.from({ length: count }, (_, nth) => SEED + nth)
const providersOf = (conversions: readonly number[]): SimulatedProvider[] =>
  conversions.map((conversion, nth) => ({ name: 'abcdef'[nth] as string, conversion }))

/** What some seeds give together. */
function sumOf(country: Country, policy: Policy, more: { messages?: number; days: number; rememberedDays?: number }) {
  const sum = { messages: 0, approvals: 0, cost_micros: 0, alarms: 0 }
  for (const seed of seeds(RUNS)) {
    const played = play({ country, policy, seed, ...more })
    sum.messages += played.messages
    sum.approvals += played.approvals
    sum.cost_micros += played.cost_micros
    sum.alarms += played.changes.filter(({ silent }) => silent).length
  }
  return sum
}

const LEARNED_MESSAGES = 2_000
const MAX_REGRET = 0.05
const CONVERSIONS: readonly number[][] = [
  [0.8, 0.5],
  [0.5, 0.8],
  [0.7, 0.75],
  [0.8, 0.8],
  [0.6, 0.62, 0.64],
  [0.4, 0.6, 0.85],
  [0.8, 0.3, 0.3, 0.3],
  [0.3, 0.5, 0.6, 0.8],
  [0.05, 0.05, 0.85],
  [0.3, 0.4, 0.5, 0.6, 0.8],
  [0.6, 0.6, 0.6, 0.6, 0.6, 0.8],
]

/** What is lost by one who knows the best provider from the first message that may leave the listed order on. */
function unavoidableLoss(conversions: readonly number[]): number {
  const best = Math.max(...conversions)
  const lossOf = (conversion = best): number => (best - conversion) / best
  const probed = MIN_SHARE * conversions.reduce((sum, conversion) => sum + lossOf(conversion), 0)
  return (MIN_MESSAGES * lossOf(conversions[0]) + (LEARNED_MESSAGES - MIN_MESSAGES) * probed) / LEARNED_MESSAGES
}

/** A new country. Listed is the order of the conversions. */
function printLearning(): void {
  console.log(
    `\nThe first ${LEARNED_MESSAGES} messages of a country, of ${RUNS} seeds: approvals lost against the oracle; aim ≤ ${percent(MAX_REGRET)} at 200 a day and more`,
  )
  for (const perDay of (process.env.BENCH_PER_DAY ?? '200,1000,5000,50').split(',').map(Number))
    for (const conversions of CONVERSIONS) {
      const country = { providers: providersOf(conversions), perDay }
      const more = { messages: LEARNED_MESSAGES, days: (2 * LEARNED_MESSAGES) / perDay + 1 }
      const [plain, best, oracle] = (['plain', 'best', 'oracle'] as const).map(
        policy => sumOf(country, policy, more).approvals,
      )
      const lost = (approvals = 0) => 1 - approvals / (oracle ?? 1)
      const aim = perDay < 200 ? '' : verdict(lost(best) <= MAX_REGRET)
      console.log(
        `  ${String(perDay).padStart(5)} a day  ${conversions.join(' ').padEnd(24)}  unavoidable ${percent(unavoidableLoss(conversions)).padStart(6)}  listed ${percent(lost(plain)).padStart(7)}  best ${percent(lost(best)).padStart(6)} ${aim}`,
      )
    }
}

const outage = (provider: string, day: number, hours: number, kind: Outage['kind']): Outage => {
  const from = START + day * DAY_MS + 10 * HOUR_MS
  return { provider, from, until: from + hours * HOUR_MS, kind }
}
const TWO_GOOD = { providers: providersOf([0.8, 0.75]), perDay: 500 }

const SITUATIONS: readonly { name: string; country: Country }[] = [
  {
    name: 'nothing happens, the first is the best',
    country: { providers: providersOf([0.8, 0.75]), perDay: 500 },
  },
  {
    name: 'the first falls from 80 to 50 %, the second rises',
    country: {
      providers: [
        { name: 'a', conversion: 0.8, drift: -0.3 },
        { name: 'b', conversion: 0.65, drift: 0.15 },
      ],
      perDay: 500,
    },
  },
  {
    name: 'the first is silent for 8 hours, twice',
    country: {
      ...TWO_GOOD,
      outages: [outage('a', 1, 8, { part: 0.02 }), outage('a', 4, 8, { part: 0 })],
    },
  },
  {
    name: 'the first is loud for 8 hours, twice',
    country: {
      ...TWO_GOOD,
      outages: [outage('a', 1, 8, 'loud'), outage('a', 4, 8, 'loud')],
    },
  },
  {
    name: 'the first loses half for two days (one network of several)',
    country: {
      ...TWO_GOOD,
      outages: [outage('a', 2, 48, { part: 0.5 })],
    },
  },
  {
    name: 'both are silent for 4 hours (the network, or the app)',
    country: {
      ...TWO_GOOD,
      outages: [outage('a', 2, 4, { part: 0 }), outage('b', 2, 4, { part: 0 })],
    },
  },
  {
    name: 'the second is a sixth of the price, an approval worth 0.20',
    country: {
      providers: [
        { name: 'a', conversion: 0.8, cost_micros: 60_000 },
        { name: 'b', conversion: 0.75, cost_micros: 10_000 },
      ],
      perDay: 500,
      worth_micros: 200_000,
    },
  },
  {
    name: 'the same, worth not set',
    country: {
      providers: [
        { name: 'a', conversion: 0.8, cost_micros: 60_000 },
        { name: 'b', conversion: 0.75, cost_micros: 10_000 },
      ],
      perDay: 500,
    },
  },
]

/** A week of a country that has been in use for two weeks. */
function printSituations(): void {
  console.log(
    `\nA week at 500 messages a day, of ${RUNS} seeds: approvals lost against the oracle, money per 1 000 messages`,
  )
  for (const { name, country } of SITUATIONS) {
    const played = POLICIES.map(policy => ({
      policy,
      ...sumOf(country, policy, { days: 7, rememberedDays: 14 }),
    }))
    const most = played.at(-1)?.approvals ?? 1
    const cells = played.map(({ policy, approvals, messages, cost_micros, alarms }) => {
      const money = cost_micros === 0 ? '' : ` ${(cost_micros / messages / 1_000).toFixed(1)}`
      const noticed = alarms === 0 ? '' : ` (${(alarms / RUNS).toFixed(1)} alarms)`
      return `${policy} ${percent(1 - approvals / most)}${money}${noticed}`
    })
    console.log(`  ${name.padEnd(62)} ${cells.join('   ')}`)
  }
}

/** The value that this share of all does not exceed. */
const quantile = (all: readonly number[], share: number): number =>
  all.toSorted((one, other) => one - other)[Math.min(all.length - 1, Math.ceil(all.length * share) - 1)] ?? Number.NaN
const spread = (all: readonly number[]): string =>
  `${quantile(all, 0.5).toFixed(0)} (${quantile(all, 0.95).toFixed(0)})`

const DETECTION_RUNS = 4 * RUNS
const AIMS = [
  { usual: 0.8, judged: 30 },
  { usual: 0.5, judged: 60 },
]

function printSilence(): void {
  console.log(
    `\nA provider falls silent (2 % approved), and recovers: of ${DETECTION_RUNS} seeds the median and, in brackets, 95 of 100`,
  )
  for (const { usual, judged } of AIMS)
    for (const perMinute of [1, 10, 100])
      for (const { policy, kind } of SENDERS) {
        const all = seeds(DETECTION_RUNS).map(seed => playSilence({ usual, perMinute, policy, seed, kind }))
        const noticed = all.flatMap(one => one.noticed ?? [])
        const recovered = all.flatMap(one => one.recovered ?? [])
        const messages = noticed.map(one => one.judged)
        console.log(
          `  usual ${percent(usual)}, ${String(perMinute).padStart(3)} a minute, ${policy.padEnd(6)} ${kind.padEnd(11)}  noticed ${noticed.length} after ${spread(messages)} judged messages, ` +
            `${spread(noticed.map(({ minutes }) => minutes))} minutes ${verdict(quantile(messages, 0.95) <= judged)}; recovery of ${recovered.length} after ${spread(recovered.map(({ minutes }) => minutes))} minutes`,
        )
      }
}

const MAX_ALARMS = 1
const SENDERS = [
  { policy: 'listed', kind: 'server' },
  { policy: 'best', kind: 'server' },
  { policy: 'listed', kind: 'publishable' },
] as const

const TROUBLES = [
  { name: 'the service is down for 10 minutes', trouble: 'down', minutes: 10 },
  { name: 'the form is broken for an hour', trouble: 'form', minutes: 60 },
  { name: 'the first is silent for an hour', trouble: { first: 0.02, backup: 1 }, minutes: 60 },
  { name: 'the first is silent, the backup half as good', trouble: { first: 0.02, backup: 0.5 }, minutes: 60 },
  { name: 'both are silent for an hour', trouble: { first: 0, backup: 0 }, minutes: 60 },
] as const
const BACKUPS = [
  { words: 'idle backup', policy: 'listed', refused: 0 },
  { words: 'backup with 5 %', policy: 'listed', refused: 0.05 },
  { words: 'best', policy: 'best', refused: 0 },
] as const

/** When no codes are entered, is it the provider? */
function printTrouble(): void {
  console.log(
    `\nNo codes are entered, of ${DETECTION_RUNS} seeds: alarms, messages that the backup gets, approvals lost`,
  )
  for (const { name, trouble, minutes } of TROUBLES)
    for (const perMinute of [10, 100])
      for (const { words, policy, refused } of BACKUPS) {
        const all = seeds(DETECTION_RUNS).map(seed =>
          playTrouble({ trouble, minutes, perMinute, policy, refused, seed }),
        )
        const mean = (member: 'moved' | 'movedLate' | 'lost') =>
          percent(all.reduce((sum, one) => sum + one[member], 0) / all.length)
        console.log(
          `  ${name.padEnd(46)} ${String(perMinute).padStart(3)} a minute, ${words.padEnd(15)}  ${all.filter(({ isAlarmed }) => isAlarmed).length} of ${all.length} alarmed, moved ${mean('moved')}, in the last quarter ${mean('movedLate')}, lost ${mean('lost')}`,
        )
      }
}

/** A stranger sends at night, and enters no code. */
function printFlood(): void {
  console.log(
    `\nA stranger sends for four hours at night, of ${DETECTION_RUNS} seeds: alarms, and own messages moved until noon`,
  )
  for (const perDay of [24, 240, 2_400])
    for (const perHour of [20, 200])
      for (const kind of ['server', 'publishable'] as const) {
        const all = seeds(DETECTION_RUNS).map(seed => playFlood({ kind, perDay, perHour, seed }))
        const moved = all.reduce((sum, one) => sum + one.moved, 0) / all.length
        console.log(
          `  ${String(perDay).padStart(5)} a day of its own, ${String(perHour).padStart(3)} an hour of the stranger, ${kind.padEnd(11)}  ${all.filter(({ isAlarmed }) => isAlarmed).length} of ${all.length} alarmed, moved ${percent(moved)}`,
        )
      }
}

const COUNTRIES = [0.8, 0.5, 0.85, 0.65, 0.75, 0.6, 0.7, 0.55, 0.8, 0.45]

function printAlarms(): void {
  console.log(
    `\nFalse alarms per 1 000 provider-days, all of ${COUNTRIES.length} countries together, with day and night and weekends; aim ≤ ${MAX_ALARMS}`,
  )
  const print = (perMinute: number, days: number, words: string, alarms: number): void => {
    const rate = (1_000 * alarms) / days
    console.log(
      `  ${String(perMinute).padStart(3)} a minute, ${words.padEnd(24)}  ${alarms} in ${days} days: ${rate.toFixed(1)} ${verdict(rate <= MAX_ALARMS)}`,
    )
  }
  for (const perMinute of [1, 10, 100]) {
    const days = 1_000 * RUNS
    const alarms = countAlarmsByMessage({ perMinute, countries: COUNTRIES, days, seed: SEED })
    print(perMinute, days, 'no other provider', alarms)
  }
  for (const { perMinute, days, rivalShare } of [
    { perMinute: 10, days: 300, rivalShare: 0 },
    { perMinute: 10, days: 300, rivalShare: 0.05 },
    { perMinute: 100, days: 30, rivalShare: 0.05 },
  ]) {
    const alarms = countAlarms({ perMinute, rivalShare, countries: COUNTRIES, days, seed: SEED })
    print(perMinute, days, rivalShare === 0 ? 'none, slot by slot' : 'another with 5 %', alarms)
  }
}

const PARTS: Record<string, () => void> = {
  learning: printLearning,
  situations: printSituations,
  silence: printSilence,
  trouble: printTrouble,
  flood: printFlood,
  alarms: printAlarms,
}

export default async function routes(): Promise<void> {
  for (const part of (process.env.BENCH_PARTS ?? Object.keys(PARTS).join()).split(',')) PARTS[part]?.()
}

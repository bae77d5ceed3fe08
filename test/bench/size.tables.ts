// The tables of docs/operations/sizing.md that follow from measured figures. In: figures. Out: Markdown.
import {
  type Demand,
  eventsPerSend,
  messagesPerSecond,
  msPerSend,
  type Outage,
  type Policy,
  planMongo,
  planRole,
  planStorage,
  ratesOf,
  SIZED_ROLES,
  type SizeFigures,
  simulateOutage,
  sum,
} from './size.simulation.ts'

export interface MeasuredSize {
  /** The day of the measurement. */
  on: string
  machine: string
  verifications: number
  /** Of the app that was measured. */
  retentionDays: number
  real: SizeFigures
  /** The embedded engines, all roles in one process. */
  embedded: {
    sendMs: number
    verifyMs: number
    idleCores: number
    memoryMiB: { idle: number; load: number }
    /** Of the file of the store. */
    bytes: number
  }
}

const MILLION = 1e6
const [GB, TB] = [1e9, 1e12]

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n')
    .replaceAll('| --- ', '|---')
    .replaceAll('--- |', '---|')

const count = (value: number): string => Math.round(value).toLocaleString('en')
const decimals = (value: number, digits: number): string => value.toFixed(digits)
/** Two digits that count. */
const short = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en')
const percent = (share: number): string => `${decimals(100 * share, 1)} %`
const bytes = (value: number): string => {
  if (value >= TB) return `${short(value / TB)} TB`
  return value >= GB ? `${short(value / GB)} GB` : `${short(value / MILLION)} MB`
}

/** What was measured, by name. */
export const measuredTables = (measured: MeasuredSize): Record<string, string> => ({
  measured: `Measured on ${measured.on} with ${count(measured.verifications)} verifications; ${measured.machine}.`,
  processes: processTable(measured),
  storage: storageTable(measured),
  messages: messageTable(measured.real),
})

function processTable({ real, embedded }: MeasuredSize): string {
  const names = Object.keys(real.sendMs).sort((one, other) => (real.sendMs[other] ?? 0) - (real.sendMs[one] ?? 0))
  const rows = names.map(who => {
    const { idle = 0, load = 0 } = real.memoryMiB[who] ?? {}
    const { MongoDB, RabbitMQ } = real.connections[who] ?? {}
    return [
      isEngine(who) ? who : `\`${who}\``,
      short(1_000 * (real.sendMs[who] ?? 0)),
      short(1_000 * (real.verifyMs[who] ?? 0)),
      percent(real.idleCores[who] ?? 0),
      count(idle),
      count(load),
      MongoDB === undefined ? '' : count(MongoDB),
      RabbitMQ === undefined ? '' : count(RabbitMQ),
    ]
  })
  const all = [
    'all in one, embedded',
    short(1_000 * embedded.sendMs),
    short(1_000 * embedded.verifyMs),
    percent(embedded.idleCores),
    count(embedded.memoryMiB.idle),
    count(embedded.memoryMiB.load),
    '',
    '',
  ]
  return table(
    [
      'Process',
      '1 000 sends, ms',
      '1 000 verifies, ms',
      'Idle, of a core',
      'Idle, MiB',
      'At most, MiB',
      'To MongoDB',
      'To RabbitMQ',
    ],
    [...rows, all],
  )
}

const isEngine = (who: string): boolean => ['MongoDB', 'RabbitMQ'].includes(who)

function storageTable({ real, embedded, retentionDays }: MeasuredSize): string {
  const all = Object.entries(real.stored).sort(
    ([, one], [, other]) => other.bytes + other.indexBytes - one.bytes - one.indexBytes,
  )
  const rows = all.map(([name, one]) => [
    `\`${name}\``,
    decimals(one.documents, 2),
    count(one.bytes),
    count(one.indexBytes),
    keptText(one.keptDays, retentionDays),
  ])
  const total = (member: 'bytes' | 'indexBytes'): number => sum(all.map(([, one]) => one[member]))
  const totals = [
    ['all of MongoDB', '', count(total('bytes')), count(total('indexBytes')), ''],
    ['the embedded store', '', count(embedded.bytes), '(in it)', ''],
  ]
  return table(['Collection', 'Documents', 'MB of documents', 'MB of indexes', 'Kept'], [...rows, ...totals])
}

function keptText(days: number | null, retentionDays: number): string {
  if (days === null) return 'forever'
  if (Math.abs(days - retentionDays) < 0.5) return '`retention_days`'
  return days >= 1.5 ? `${Math.round(days)} days` : `${Math.round(24 * days)} hours`
}

const messageTable = ({ messages, messageBytes }: SizeFigures): string =>
  table(
    ['Queue', 'Messages of a verification', 'Bytes of one'],
    Object.entries(messages).map(([queue, each]) => [
      `\`${queue}\``,
      decimals(each, 2),
      messageBytes[queue] === undefined ? '' : count(messageBytes[queue]),
    ]),
  )

/** The plan for a demand, by name. */
export function planTables(
  measured: MeasuredSize,
  demand: Demand,
  policy: Policy,
  recountedPerSecond: number,
): Record<string, string> {
  const { real: figures, retentionDays } = measured
  const roles = SIZED_ROLES.map(role => planRole(figures, demand, policy, role))
  const storage = planStorage(figures, demand, retentionDays)
  const mongo = planMongo(figures, demand, policy, storage)
  const rates = ratesOf(demand)
  const perSecond = messagesPerSecond(figures, demand)
  return {
    'plan: rates': table(
      ['', 'Sends/s', 'Events/s'],
      [
        ['mean of the day', count(rates.mean), count(rates.mean * eventsPerSend(demand))],
        ['busiest hour', count(rates.busiestHour), count(rates.busiestHour * eventsPerSend(demand))],
        ['busiest minute', count(rates.busiestMinute), count(rates.busiestMinute * eventsPerSend(demand))],
      ],
    ),
    'plan: processes': table(
      ['Role', 'Cores', 'Processes', 'Decided by', 'Memory', 'To MongoDB', 'To RabbitMQ'],
      [
        ...roles.map(plan => [
          `\`${plan.role}\``,
          decimals(plan.cores, 1),
          count(plan.processes),
          plan.because,
          bytes(plan.memoryMiB * 2 ** 20),
          count(plan.mongodbConnections),
          count(plan.rabbitmqConnections),
        ]),
        [
          'all',
          decimals(sum(roles.map(({ cores }) => cores)), 1),
          count(sum(roles.map(({ processes }) => processes))),
          '',
          bytes(sum(roles.map(({ memoryMiB }) => memoryMiB)) * 2 ** 20),
          count(sum(roles.map(({ mongodbConnections }) => mongodbConnections))),
          count(sum(roles.map(({ rabbitmqConnections }) => rabbitmqConnections))),
        ],
      ],
    ),
    'plan: engines': table(
      ['', 'In the busiest minute'],
      [
        ['MongoDB, cores of the primaries', decimals(mongo.cores, 1)],
        [
          `MongoDB, shards of ${policy.engineCores} cores and ${bytes(policy.shardBytes)}`,
          `${mongo.shards} (decided by ${mongo.because})`,
        ],
        [
          'MongoDB, network',
          `${short((8 * rates.busiestMinute * figures.mongodbBytes) / MILLION)} Mbit/s, and as much from each primary to each secondary at most`,
        ],
        ['RabbitMQ, cores', decimals((rates.busiestMinute * msPerSend(figures, demand, 'RabbitMQ')) / 1_000, 1)],
        ...Object.entries(perSecond).map(([queue, each]) => [`RabbitMQ, \`${queue}\``, `${count(each)}/s`]),
        [
          'the recount of statistics, which one sweeper does',
          `${count(rates.mean)}/s of at most ${count(recountedPerSecond)}/s`,
        ],
      ],
    ),
    'plan: storage': table(
      ['Retention', 'Documents', 'Indexes', 'Both, on three members', 'The ledger, each year'],
      RETENTIONS.map(days => {
        const kept = planStorage(
          { ...figures, stored: withoutForEver(figures.stored) },
          { ...demand, retentionDays: days },
          retentionDays,
        )
        return [
          days === 1 ? '1 day' : `${days} days`,
          bytes(kept.bytes),
          bytes(kept.indexBytes),
          bytes(3 * (kept.bytes + kept.indexBytes)),
          bytes(365 * storage.perDayForEver),
        ]
      }),
    ),
    'plan: outages': table(
      ['Away', 'For', 'Messages in the queue', 'Bytes', 'Drained after', 'Codes that expired'],
      OUTAGES.map(({ role, minutes }) => {
        const hour = demand.hours.indexOf(Math.max(...demand.hours))
        const result = simulateOutage(figures, demand, policy, { role, minutes, hour })
        return [
          `\`${role}\``,
          `${minutes} min`,
          count(result.deepest),
          bytes(result.bytes),
          result.drainedAfterMinutes === null ? 'not within a day' : `${short(result.drainedAfterMinutes)} min`,
          count(result.expired),
        ]
      }),
    ),
  }
}

const RETENTIONS = [1, 7, 30, 90]
const OUTAGES: Pick<Outage, 'role' | 'minutes'>[] = [
  { role: 'channel:sms', minutes: 5 },
  { role: 'channel:sms', minutes: 30 },
  { role: 'webhook', minutes: 30 },
  { role: 'webhook', minutes: 240 },
]

const withoutForEver = (stored: SizeFigures['stored']): SizeFigures['stored'] =>
  Object.fromEntries(Object.entries(stored).filter(([, { keptDays }]) => keptDays !== null))

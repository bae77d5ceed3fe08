// The tables of docs/operations/sizing.md. In: the declared shard keys, the figures that were measured last, and the
// page. Out: the page with the tables as they must be. The text around them is written by hand.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../infra/config/config.ts'
import type { CollectionSpec, Collections, Scatter } from '../../infra/store/store.ts'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { COLLECTIONS } from '../../services/domain/collections.ts'
import { MAX_RECOUNTED_PER_RUN } from '../../services/sweeper/stats.ts'
import { MAX_CALLS_PER_ENDPOINT } from '../../services/webhook/event-attempts.ts'
import type { Demand, Policy } from '../bench/size.simulation.ts'
import { type MeasuredSize, measuredTables, planTables } from '../bench/size.tables.ts'

/** Fifty million sends a day, as people send them: few at night, most in the evening. */
export const DEMAND: Demand = {
  sendsPerDay: 50e6,
  hours: [
    0.4, 0.3, 0.2, 0.2, 0.2, 0.3, 0.5, 0.8, 1, 1.1, 1.2, 1.2, 1.3, 1.2, 1.2, 1.2, 1.3, 1.4, 1.6, 1.8, 1.8, 1.6, 1.3,
    0.9,
  ],
  minuteFactor: 1.7,
  verified: 0.8,
  retentionDays: 30,
  vendorMs: 300,
  endpointMs: 100,
  busiestEndpoint: 0.2,
}

export const POLICY: Policy = {
  use: 0.6,
  spare: 1,
  engineCores: 16,
  shardBytes: 2e12,
  vendorCalls: readConfig({}, []).provider.maxCalls,
  endpointCalls: MAX_CALLS_PER_ENDPOINT,
}

const FIGURES = join(PROJECT_ROOT, 'test/bench/size.figures.json')

export function withSizingTables(page: string): string {
  const measured: MeasuredSize = JSON.parse(readFileSync(FIGURES, 'utf8'))
  const tables: Record<string, string> = {
    ...shardTables(),
    ...measuredTables(measured),
    ...planTables(measured, DEMAND, POLICY, MAX_RECOUNTED_PER_RUN),
    'plan: inputs': inputs(),
  }
  const missing = Object.keys(tables).filter(name => !page.includes(begin(name)))
  if (missing.length > 0) throw new Error(`docs/operations/sizing.md has no place for: ${missing.join(', ')}`)
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [before = '', rest = ''] = text.split(begin(name))
    return `${before}${begin(name)}\n\n${table}\n\n${END}${rest.slice(rest.indexOf(END) + END.length)}`
  }, page)
}

const begin = (name: string): string => `<!-- ${name} (npm run openapi writes it) -->`
const END = '<!-- end -->'

function shardTables(): Record<string, string> {
  const sharded = Object.entries(COLLECTIONS as Collections).filter(([, { sharding }]) => sharding !== undefined)
  return {
    'shard keys': [
      '```js',
      ...sharded.map(
        ([name, { sharding }]) => `sh.shardCollection('countersign.${name}', ${keyText(sharding?.key ?? {})})`,
      ),
      '```',
    ].join('\n'),
    scatter: [
      '| Collection | Asked by | Who | When |',
      '|---|---|---|---|',
      ...sharded.flatMap(([name, spec]) =>
        scatters(spec).map(([fields, { asker, why }]) => `| \`${name}\` | ${fields} | ${asker} | ${why} |`),
      ),
    ].join('\n'),
  }
}

const keyText = (key: Record<string, unknown>): string =>
  `{ ${Object.entries(key)
    .map(([path, kind]) => `${path}: ${kind === 1 ? 1 : `'${kind}'`}`)
    .join(', ')} }`

const scatters = ({ indexes, sharding }: CollectionSpec): [string, Scatter][] => [
  ...indexes.flatMap(({ fields, scatter }): [string, Scatter][] =>
    scatter === undefined
      ? []
      : [
          [
            Object.keys(fields)
              .map(path => `\`${path}\``)
              .join(', '),
            scatter,
          ],
        ],
  ),
  ...(sharding?.byId === undefined ? [] : [['`_id`', sharding.byId] as [string, Scatter]]),
]

const inputs = (): string =>
  [
    `- ${DEMAND.sendsPerDay / 1e6} million sends a day; the busiest hour has ${Math.max(...DEMAND.hours)} times the mean, the busiest`,
    `  minute ${DEMAND.minuteFactor} times its hour. ${100 * DEMAND.verified} % are verified, ${DEMAND.retentionDays} days are kept.`,
    `- A vendor answers within ${DEMAND.vendorMs} ms, an endpoint within ${DEMAND.endpointMs} ms. The busiest endpoint gets ${100 * DEMAND.busiestEndpoint} % of the events.`,
    `- Headroom: in the busiest minute nothing uses more than ${100 * POLICY.use} % of its cores or of its calls under way (${POLICY.vendorCalls} to a`,
    `  vendor and ${POLICY.endpointCalls} to an endpoint in each process), with ${POLICY.spare} process of each role to spare.`,
    `- Engines: ${POLICY.engineCores} cores and ${POLICY.shardBytes / 1e12} TB for each member of a shard, three members each.`,
  ].join('\n')

// The page about queues names every queue that RabbitMQ gets, with its arguments, and every cause of death and alert metric that exists.
import { readFileSync } from 'node:fs'
import type { Channel } from 'amqplib'
import { expect } from 'chai'
import { createQueues, DEFAULT_DELIVERY_LIMIT, type Declaration, queueNames } from '../../infra/broker/amqp/queues.ts'
import { DEATH_CAUSES } from '../../infra/broker/broker.ts'
import { createTopology, DEFAULT_PREFIX } from '../../infra/broker/topology.ts'
import { readConfig } from '../../infra/config/config.ts'
import { createMetrics } from '../../infra/metrics.ts'
import { brokerDelays } from '../../services/domain/webhooks/retry-waits.ts'

const page = readFileSync('docs/queues.md', 'utf8')

describe('the page about queues', () => {
  it('names every queue on RabbitMQ with its arguments, none of them transient on RabbitMQ 4, which deprecates such queues', () => {
    const topology = createTopology(brokerDelays(readConfig({}, []).backoff))
    const queues = createQueues(queueNames(DEFAULT_PREFIX), topology, DEFAULT_DELIVERY_LIMIT)
    const declaredOn = (version: string): Declaration[] => {
      const channel = { connection: { serverProperties: { version } } } as Channel
      return [...queues.allWork(), ...queues.allCalls(channel)]
    }
    const declared = declaredOn('3.10.8').map(({ name, options }) => `${name}: ${describeOptions(options)}`)
    const rows = [...page.matchAll(/^\| `(countersign\.v1\.[\w.]+)` \| ([^|]+) \| ([^|]+) \|$/gm)]
    expect(rows.map(([, name, , options]) => `${name}: ${options?.replaceAll('`', '')}`)).to.have.members(declared)
    expect(declaredOn('4.0.1').filter(({ options }) => !options.durable)).to.deep.equal([])
  })

  it('names queues as the OpenAPI document does', () => {
    const text = readFileSync('docs/openapi.json', 'utf8')
    const named = [...text.matchAll(/"broker_name": "([^"]+)"/g)].map(([, name]) => name)
    expect(named).to.not.be.empty
    for (const name of named) expect(page).to.include(`| \`${name}\` |`)
  })

  it('explains every cause of a death', () => {
    const causes = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    expect(causes).to.include.members([...DEATH_CAUSES])
  })

  it('alerts on metrics that exist', async () => {
    const { body } = await createMetrics().render()
    const named = [...page.matchAll(/countersign_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ''))
    expect(named).to.have.length.above(4)
    for (const name of named) expect(body, name).to.include(`# TYPE ${name} `)
  })
})

function describeOptions({ durable, arguments: args }: Declaration['options']): string {
  if (args?.['x-queue-type'] === 'classic') return durable ? 'classic, durable' : 'classic, transient'
  const target = args?.['x-dead-letter-routing-key']
  const own = Object.entries(args ?? {}).filter(([name]) => !/^x-(queue-type|overflow|dead-letter-.*)$/.test(name))
  const parts = [...own.map(([name, value]) => `${name}=${value}`), ...(target ? [`dead letters to ${target}`] : [])]
  return `quorum; ${parts.join(', ')}`
}

// Every log call of the tree: no field has a name that the log hides, since the line would lack what it is about; and docs/logs.md lists
// every event.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import { createTopology, type WorkQueue } from '../../infra/broker/topology.ts'
import { redact } from '../../infra/log/redact.ts'
import { classifyMember } from '../../infra/log/secret-members.ts'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'

const sources = ['infra', 'services'].flatMap(folder =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => ({ name: join(folder, name), text: readFileSync(join(PROJECT_ROOT, folder, name), 'utf8') })),
)

/** The events, and the names in the literals of fields, of one file. */
function logCallsIn(text: string): { events: string[]; fields: string[] } {
  const calls = [...text.matchAll(/\blog(?:\?)?(?:\.\w+|\[[^\n]*?\])\(([\s\S]*?),\s*'([a-z_]+(?:\.[a-z_]+)+)'/g)]
  const fieldsOf = (literal: string): string[] =>
    [...literal.matchAll(/[{,]\s*(\w+)(?=\s*[:,}])/g)].map(([, name = '']) => name)
  return {
    events: calls.map(([, , event = '']) => event),
    fields: calls.flatMap(([, literal = '']) => fieldsOf(literal)),
  }
}

describe('the lines of the log', () => {
  it('have no field whose value is always hidden', () => {
    const hidden = sources.flatMap(({ name, text }) =>
      logCallsIn(text)
        .fields.filter(field => classifyMember(field).secret)
        .map(field => `${name}: ${field}`),
    )
    expect(hidden).to.deep.equal([])
    expect(logCallsIn("log.warn({ queue, to, id }, 'broker.lost')").fields).to.include('to')
  })

  it('name queues as they are', () => {
    const names = queueNames('countersign.v1')
    const { calls, work } = createTopology({ channel: [1_000, 15_000], webhook: [5_000, 36_000_000] })
    const all = [
      ...calls.flatMap(queue => [queue, names.queue(queue)]),
      ...(Object.keys(work) as WorkQueue[]).flatMap(queue => [
        queue,
        names.queue(queue),
        names.dead(queue),
        ...work[queue].map(delay => names.wait(queue, delay)),
      ]),
    ]
    for (const name of all) {
      const line = { queue: name, to_queue: name, broker_name: name, err: `no queue '${name}' in vhost '/'` }
      expect(redact(line)).to.deep.equal(line)
    }
  })

  it('are listed by their events in docs/logs.md', () => {
    const page = readFileSync(join(PROJECT_ROOT, 'docs/logs.md'), 'utf8')
    const listed = new Set([...page.matchAll(/^\| `([a-z_]+(?:\.[a-z_]+)+)` \|/gm)].map(([, event]) => event))
    const written = new Set(sources.flatMap(({ text }) => logCallsIn(text).events))
    expect(
      [...written].filter(event => !listed.has(event)),
      'not listed',
    ).to.deep.equal([])
    expect(
      [...listed].filter(event => !written.has(event ?? '')),
      'not written any more',
    ).to.deep.equal([])
  })
})

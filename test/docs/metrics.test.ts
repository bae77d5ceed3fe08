// docs/metrics.md lists every metric with its type and labels, and no other.
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { createMetrics } from '../../infra/metrics.ts'

interface Instrument {
  name: string
  labelNames: string[]
}

const isInstrument = (value: unknown): value is Instrument =>
  typeof value === 'object' && value !== null && 'labelNames' in value

describe('docs/metrics.md', () => {
  const page = readFileSync('docs/metrics.md', 'utf8')
  const metrics = createMetrics()
  const instruments = (Object.values(metrics) as unknown[]).filter(isInstrument)

  it('lists every metric with its type and labels, and no other', async () => {
    const types = new Map(
      [...(await metrics.render()).body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
    )
    const known = instruments.map(({ name, labelNames }) => [name, types.get(name), labelNames.join()])
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm)]
    const documented = rows.map(([, name, type, labels = '']) => [name, type, labels.replaceAll(/[` ]/g, '')])
    expect(known).to.not.be.empty
    expect(documented.sort()).to.deep.equal(known.sort())
  })
})

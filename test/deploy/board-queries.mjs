// In: boards of Grafana. Out: their queries as recording rules, for promtool to parse, with a value in place of each variable of Grafana.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const VALUES = { __rate_interval: '5m', __range: '1h', mode: 'live', channel: '.*', provider: '.*', queue: '.*' }

const queries = process.argv
  .slice(2)
  .flatMap(file =>
    JSON.parse(readFileSync(file, 'utf8')).panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  )
const rules = queries.map((expr, at) => ({
  record: `board:query_${at}`,
  expr: expr.replaceAll(/\$(\w+)/g, (_, name) => VALUES[name] ?? `unknown variable ${name}`),
}))
// JSON is YAML too.
process.stdout.write(`${JSON.stringify({ groups: [{ name: 'boards', rules }] }, null, 2)}\n`)

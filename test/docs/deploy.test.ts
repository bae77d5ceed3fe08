// The files of infra/deploy agree with the program, without the tools that `npm run test:deploy` needs: every role has
// its place in each of them, scalers name real queues, and alerts and boards use metrics and labels that exist.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import { DEFAULT_PREFIX } from '../../infra/broker/topology.ts'
import { ROLES, readConfig } from '../../infra/config/config.ts'
import { ROLE_SECRETS } from '../../infra/config/role-secrets.ts'
import { SECRET_VARIABLES } from '../../infra/config/variables.ts'
import { ACTIONS, collectionsOf, rabbitPermissions, userOf } from '../../infra/deploy/rights.ts'
import { createMetrics } from '../../infra/metrics.ts'
import { CHANNELS } from '../../machines/channels.ts'
import { COLLECTIONS } from '../../services/domain/collections.ts'
import { channelQueue } from '../../services/domain/verifications/queue-messages.ts'
import { ENDPOINT_TIMEOUT_MS } from '../../services/webhook/endpoint-call.ts'

const CHART = 'infra/deploy/helm/countersign'
const read = (path: string): string => readFileSync(path, 'utf8')
const all = (pattern: RegExp, text: string): string[] => [...text.matchAll(pattern)].map(match => match[1] ?? '')
const USERS = ROLES.map(userOf)

describe('the services in compose.yml', () => {
  const compose = read('infra/deploy/compose.yml')
  const [, services = ''] = /\nservices:\n(.*?)\n\S/s.exec(compose) ?? []
  const blocks = services.split(/\n(?= {2}[a-z-]+:)/).filter(block => block.includes('*countersign'))
  const found = blocks.map(block => ({
    name: /^ *([a-z-]+):/m.exec(block.replace(/^ *#.*$/gm, ''))?.[1] ?? '',
    role: /command: \['?([a-z:]+)'?\]/.exec(block)?.[1] ?? '',
    secrets: all(/^ {6}- (.+)$/gm, block),
  }))

  it('play every role once, under its name', () => {
    expect(found.map(({ role }) => role)).to.have.members([...ROLES])
    expect(found.map(({ name }) => name)).to.have.members(USERS)
  })

  it('have the secrets of their roles and the URLs of their own users as files, and no others', () => {
    for (const { name, role, secrets } of found) {
      const own = ROLE_SECRETS[role as keyof typeof ROLE_SECRETS].map(secret => secret.toLowerCase())
      const urls = ['mongodb_url', 'amqp_url'].map(file => `{ source: ${name}_${file}, target: ${file} }`)
      expect(secrets, role).to.have.members([...urls, ...own, 'metrics_token'])
    }
  })

  it('have no secret in their environment', () => {
    for (const name of SECRET_VARIABLES) expect(compose).not.to.match(new RegExp(`^ +${name}:`, 'm'))
  })

  it('take every documented variable from .env, except those that compose.yml or the image decides', () => {
    const rows = ['configuration', 'tracing'].flatMap(page => all(/^\| (`[A-Z].*?) \|/gm, read(`docs/${page}.md`)))
    const documented = rows.flatMap(names => all(/`([A-Z_]+)`/g, names)).filter(name => !name.endsWith('_FILE'))
    const decided = ['ENGINE', 'NODE_ENV', 'DATA_DIR', 'HOST', 'PORT', ...SECRET_VARIABLES]
    const taken = all(/^ {4}([A-Z_]+):/gm, compose).filter(name => !name.endsWith('_FILE'))
    expect(taken).to.have.members([...new Set(documented)].filter(name => !decided.includes(name)))
  })

  it('have the time to stop that follows from STOP_DELAY and the longest call', () => {
    const graces = all(/^ +stop_grace_period: (.*)$/gm, compose)
    const [delay, timeout] = ['$' + '{STOP_DELAY:-3000}ms', '$' + '{PROVIDER_TIMEOUT:-8000}ms']
    expect(graces).to.deep.equal([`${delay}${timeout}6s`, `${delay}${ENDPOINT_TIMEOUT_MS / 1_000 + 6}s`])
    expect(readConfig({}, []).provider.timeoutMs).to.equal(8_000)
  })

  it('get every secret from make-secrets.sh', () => {
    const script = read('infra/deploy/make-secrets.sh')
    const [, roles = ''] = /for role in (.*); do/.exec(script) ?? []
    const made = [
      ...all(/^secret (\w+) /gm, script),
      ...roles.split(' ').flatMap(role => [`${role}_mongodb_url`, `${role}_amqp_url`]),
    ]
    expect(all(/^ {2}([\w-]+): \{ file: secrets\/\1 \}$/gm, compose)).to.have.members(made)
  })
})

describe('make-secrets.sh', () => {
  it('keeps no secret that openssl did not make, and makes it the next time', () => {
    const folder = mkdtempSync(join(tmpdir(), 'make-secrets-'))
    try {
      copyFileSync('infra/deploy/make-secrets.sh', join(folder, 'make-secrets.sh'))
      writeFileSync(join(folder, 'openssl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
      const run = (path = '') =>
        spawnSync('bash', [join(folder, 'make-secrets.sh')], { env: { PATH: `${path}${process.env.PATH}` } }).status
      const made = (): string[] => readdirSync(join(folder, 'secrets')).filter(name => !name.endsWith('.new'))
      expect(run(`${folder}:`)).not.to.equal(0)
      expect(made()).to.deep.equal([])
      expect(run()).to.equal(0)
      expect(made()).to.have.length.above(20)
      expect(read(join(folder, 'secrets/data_keys'))).to.match(/^k1:[\w+/]{43}=\n$/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('the Helm chart', () => {
  const values = read(`${CHART}/values.yaml`)
  const schema = JSON.parse(read(`${CHART}/values.schema.json`))

  it('has a Deployment for every role', () => {
    const [, roles = ''] = /^roles:\n((?: {2}.*\n)+)/m.exec(values) ?? []
    expect(all(/^ {2}([\w-]+):/gm, roles)).to.have.members(USERS)
    expect(Object.keys(schema.properties.roles.properties)).to.have.members(USERS)
    expect(schema.properties.roles.required).to.have.members(USERS)
  })

  it('gives each role the secrets that it works with', () => {
    const helper =
      /"countersign.secretsOf" -\}\}(.*?)\{\{- end -\}\}\n\{\{- end/s.exec(
        read(`${CHART}/templates/_helpers.tpl`),
      )?.[1] ?? ''
    const [ofCodes, ofDashboard, others] = all(/-\}\}([\w ]+)\n/g, `${helper}\n`)
    const secretsIn = (names = ''): string[] =>
      names.split(' ').map(name => name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase())
    for (const role of ROLES) {
      const given =
        role === 'dashboard' ? ofDashboard : role === 'otp' || role.startsWith('channel:') ? ofCodes : others
      expect(secretsIn(given), role).to.have.members([...ROLE_SECRETS[role]])
    }
  })

  it('lets every role reach the collector of traces, and the edge port 443 alone', () => {
    const policies = read(`${CHART}/templates/network-policies.yaml`)
    expect(policies).to.match(/with \$policies\.collector .*\n.*if \.to .*\n.*port: \{\{ \.port \}\}/)
    expect(policies).to.match(
      /if eq \$role "edge" .*\n.*\n *- ports: \[\{ port: 443, protocol: TCP \}\]\n *\{\{- else if/,
    )
  })

  it('scales channels by what waits, as /backlog, our metrics and RabbitMQ name it', () => {
    const scalers = read(`${CHART}/templates/scalers.yaml`)
    expect(scalers).to.include('valueLocation: channels.{{ $channel }}.owed')
    for (const metric of ['countersign_deliveries_owed{', 'countersign_deliveries_owed_oldest_seconds{'])
      expect(scalers).to.include(`query: max(${metric}channel="{{ $channel }}"{{ $labels }}})`)
    expect(scalers).to.include('key: {{ $keda.urlKey }}')
    const [, prefix = ''] = /queueName: (.*)\{\{ \$channel \}\}/.exec(scalers) ?? []
    for (const channel of CHANNELS) {
      expect(ROLES).to.include(`channel:${channel}`)
      expect(`${prefix}${channel}`).to.equal(queueNames(DEFAULT_PREFIX).queue(channelQueue(channel)))
    }
  })
})

describe('the rights of the roles', () => {
  it('name collections that exist, and leave none to nobody', () => {
    const named = new Set(ROLES.flatMap(role => ACTIONS.flatMap(action => collectionsOf(role, action))))
    expect([...named]).to.have.members(Object.keys(COLLECTIONS))
  })

  it('let a channel read its own queues, with their wait queues and dead letters, and no others', () => {
    const { configure, read: reads, write } = rabbitPermissions('channel:sms')
    for (const pattern of [configure, reads]) {
      const matches = (name: string): boolean => new RegExp(pattern).test(name)
      for (const name of ['', '.calls', '.dead', '.wait.1000'])
        expect(matches(`countersign.v1.channel.sms${name}`), name).to.equal(true)
      for (const name of [
        'countersign.v1.channel.email',
        'countersign.v1.otp.calls',
        'countersignxv1.channel.sms',
        'amq.default',
      ])
        expect(matches(name), name).to.equal(false)
    }
    expect(write).to.equal('^amq\\.default$')
  })

  it('let the dashboard read dead letters and nothing that is still to be done', () => {
    const reads = new RegExp(rabbitPermissions('dashboard').read)
    expect(reads.test('countersign.v1.otp.reports.dead')).to.equal(true)
    expect(reads.test('countersign.v1.otp.reports')).to.equal(false)
  })
})

describe('the alerts and boards', () => {
  const rules = read('infra/deploy/prometheus/countersign.rules.yml')
  const boards = readdirSync('infra/deploy/grafana').map(name => ({ name, text: read(`infra/deploy/grafana/${name}`) }))
  const isInstrument = (value: unknown): value is { name: string; labelNames: string[] } =>
    typeof value === 'object' && value !== null && 'labelNames' in value
  const instruments = (Object.values(createMetrics()) as unknown[]).filter(isInstrument)
  const instrumentOf = (name: string) =>
    instruments.find(
      one => one.name === name || [`${one.name}_bucket`, `${one.name}_count`, `${one.name}_sum`].includes(name),
    )
  /** Of which promtool knows that they are well-formed. */
  const queries = [
    ...all(/expr: \|\n((?: {10}.*\n)+)/g, rules),
    ...all(/expr: ([^|\n].*)$/gm, rules),
    ...boards.flatMap(({ text }) =>
      (JSON.parse(text).panels as { targets?: { expr: string }[] }[]).flatMap(({ targets = [] }) =>
        targets.map(({ expr }) => expr),
      ),
    ),
  ]

  /** Of histograms, and those that Prometheus adds when it finds processes in Kubernetes. */
  const PROMETHEUS_LABELS = ['le', 'namespace']

  it('use metrics and labels that exist', () => {
    expect(queries).to.have.length.above(50)
    for (const query of queries) {
      for (const [, name = '', labels = ''] of query.matchAll(/(countersign_\w+)(?:\{([^}]*)\})?/g)) {
        const found = instrumentOf(name)
        expect(found, name).not.to.equal(undefined)
        for (const label of all(/(\w+)(?:=|!=|=~)"/g, labels)) expect(found?.labelNames, name).to.include(label)
      }
      const grouped = all(/by \(([^)]*)\)/g, query).flatMap(list => list.split(', '))
      const known = instruments.filter(({ name }) => query.includes(name)).flatMap(({ labelNames }) => labelNames)
      for (const label of grouped.filter(name => !PROMETHEUS_LABELS.includes(name)))
        expect(known, query).to.include(label)
    }
  })

  it('lead to a line of the runbook, and have a test that fires and one that does not', () => {
    const page = read('docs/operations/alerts.md')
    const tests = ['countersign', 'conversion']
      .map(name => read(`infra/deploy/prometheus/${name}.rules.test.yml`))
      .join()
    const alerts = all(/^ {6}- alert: (\w+)$/gm, rules)
    expect(all(/^ +runbook: (.*)$/gm, rules)).to.deep.equal(
      alerts.map(name => `docs/operations/alerts.md#${name.toLowerCase()}`),
    )
    expect(all(/^### (\w+)$/gm, page)).to.deep.equal(alerts)
    for (const name of alerts) {
      expect(tests).to.match(new RegExp(`alertname: ${name}, eval_time: \\w+, exp_alerts: \\[\\]`))
      expect(tests).to.match(new RegExp(`alertname: ${name}\n +eval_time: \\w+\n +exp_alerts:\n`))
    }
  })
})

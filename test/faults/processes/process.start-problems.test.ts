// What a process prints when it cannot start: every problem, in plain lines, and exit 1.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { ROLES } from '../../../infra/config/config.ts'
import { secrets } from '../../support/config.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { useShellServers } from '../../support/http-shell.ts'
import { type CountersignProcess, useProcesses } from '../../support/processes.ts'

/** A process that has not refused by then never will. */
const MAX_REFUSAL_MS = 50_000

describe('a process that cannot start', () => {
  const { site, main } = useProcesses()
  const startServer = useShellServers()

  /** The lines it prints, after it has ended with exit 1. */
  async function startProblemLines(refused: CountersignProcess): Promise<string[]> {
    expect(await refused.exited).to.deep.equal({ code: 1, signal: null })
    const [first, ...lines] = refused.stderr().trimEnd().split('\n')
    expect(first).to.equal('Countersign cannot start.')
    expect(
      lines.filter(line => /^\s+at /.test(line)),
      'no stack',
    ).to.deep.equal([])
    expect(refused.lines.join('\n'), 'found before it listens').not.to.contain('countersign.listening')
    return lines
  }

  it('names every wrong setting at once', async () => {
    const wrong = { PORT: '99999', LOG_LEVEL: 'loud', AMQP_URL: 'amqp://nowhere', DATA_KEYS: 'd:c2hvcnQ=' }
    const lines = await startProblemLines(main(await site('embedded'), wrong, ['edge', 'postman']))
    const names = lines.map(line => line.split(':')[0])
    expect(names).to.have.members(['PORT', 'LOG_LEVEL', 'MONGODB_URL', 'DATA_KEYS', 'roles'])
    expect(lines.join('\n'), 'no secret is printed').not.to.contain('c2hvcnQ')
  })

  it('names the URL of an engine that its driver cannot use, and no password', async () => {
    const urls = { MONGODB_URL: 'mongodb://u:pa55@127.0.0.1/x?colour=red', AMQP_URL: 'amqp://127.0.0.1:1' }
    const lines = await startProblemLines(main(await site('embedded'), urls))
    expect(lines).to.have.length(1)
    expect(lines[0])
      .to.match(/^MONGODB_URL: .*colour/)
      .and.not.to.contain('pa55')
  })

  it('names the secrets that are missing in production, and makes none by itself', async () => {
    const here = await site('embedded')
    const lines = await startProblemLines(main(here, { NODE_ENV: 'production', ENGINE: 'embedded' }))
    expect(lines).to.deep.equal(
      [
        ['CODE_SECRETS', 'echo "k1:$(openssl rand -base64 32)"'],
        ['DATA_KEYS', 'echo "k1:$(openssl rand -base64 32)"'],
        ['ADMIN_TOKEN', 'openssl rand -hex 24'],
      ].map(([name, command]) => `${name}: is missing: production needs it. Make one: ${command}`),
    )
    expect(existsSync(join(here.env.DATA_DIR ?? '', 'secrets.json'))).to.equal(false)
  })

  it('names secrets that are too short in production, with every other problem, by variable and by path', async () => {
    const here = await site('embedded')
    const keys = [
      { id: 'key_a', key: `sk_live_${'k'.repeat(23)}` },
      { id: 'key_b', key: `sk_live_${'k'.repeat(24)}` },
    ]
    const companies = [{ id: 'cmp_a', apps: [{ id: 'app_a', keys }] }]
    const production = { NODE_ENV: 'production', ENGINE: 'embedded', ...secrets }
    const wrong = {
      ...production,
      ADMIN_TOKEN: 'short-token',
      PORT: '99999',
      BOOTSTRAP_FILE: await here.write('bootstrap.json', { companies }),
    }
    const lines = await startProblemLines(main(here, wrong))
    expect(lines.map(line => line.split(': ')[0])).to.have.members([
      'ADMIN_TOKEN',
      'PORT',
      'companies.0.apps.0.keys.0.key',
    ])
    expect(lines.join('\n'), 'no secret is printed').not.to.match(/short-token|kkk/)
  })

  it('starts in production with all secrets', async () => {
    const production = { NODE_ENV: 'production', ENGINE: 'embedded', ...secrets }
    await main(await site('embedded'), production).ready()
  })

  it('names the place in the bootstrap file', async () => {
    const here = await site('embedded')
    const apps = [{ id: 'app_a', keys: [{ id: 'key_a', kind: 'server', mode: 'tst' }] }]
    const file = await here.write('bootstrap.json', { companies: [{ id: 'cmp_a', apps }, { id: 'company' }] })
    const lines = await startProblemLines(main(here, { BOOTSTRAP_FILE: file }))
    expect(lines.map(line => line.split(': ')[0])).to.deep.equal(['companies.0.apps.0.keys.0.mode', 'companies.1.id'])
  })

  it('says that the bootstrap file is not there', async () => {
    const lines = await startProblemLines(main(await site('embedded'), { BOOTSTRAP_FILE: '/nowhere/bootstrap.json' }))
    expect(lines).to.deep.equal([
      "BOOTSTRAP_FILE: cannot be read: ENOENT: no such file or directory, open '/nowhere/bootstrap.json'",
    ])
  })

  it('says which data key is missing when its store was sealed with another, and starts without one that is lost', async () => {
    const here = await site('embedded')
    const first = main(here)
    await first.ready()
    first.process.kill('SIGTERM')
    await first.exited
    const lines = await startProblemLines(main(here, { DATA_KEYS: secrets.DATA_KEYS }))
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^DATA_KEYS: .*"dev", which is not among those given \(d\)/)
    expect(lines[0], 'no secret is printed').not.to.contain(secrets.DATA_KEYS.slice(2, 12))
    expect(lines[0]).to.contain(`Delete the data folder to start over: ${here.env.DATA_DIR}`)
    await main(here, { DATA_KEYS: secrets.DATA_KEYS, LOST_DATA_KEYS: 'dev' }).ready()
  })

  it('says that the port is in use', async () => {
    const { port } = await startServer()
    for (const setting of ['PORT', 'METRICS_PORT']) {
      const lines = await startProblemLines(main(await site('embedded'), { [setting]: `${port}` }))
      const remedy = `Stop that process, or set ${setting} to another port`
      expect(lines).to.deep.equal([`${setting}: another process is using port ${port} of 127.0.0.1. ${remedy}`])
    }
  })

  it('says that HOST is no address of this machine', async () => {
    const lines = await startProblemLines(main(await site('embedded'), { HOST: '192.0.2.1' }))
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^HOST: this machine has no address 192\.0\.2\.1\. Set HOST to /)
  })

  it('says which addresses of the bootstrap file ALLOW_PRIVATE_TARGETS would have to allow', async () => {
    const here = await site('embedded')
    const webhook = { url: 'http://127.0.0.1:9/hooks', secret: `whsec_${'c2VjcmV0'.repeat(4)}` }
    const file = await here.write('bootstrap.json', { companies: [{ id: 'cmp_a', apps: [{ id: 'app_a', webhook }] }] })
    const lines = await startProblemLines(main(here, { BOOTSTRAP_FILE: file }))
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^companies\.0\.apps\.0\.webhook\.url: .*ALLOW_PRIVATE_TARGETS$/)
    const wrong = await startProblemLines(main(here, { ALLOW_PRIVATE_TARGETS: 'yes' }))
    expect(wrong).to.deep.equal([
      'ALLOW_PRIVATE_TARGETS: must be 1 for everywhere, 0 for nowhere, or address ranges: "yes" is not an address range such as 10.0.0.0/8',
    ])
  })

  it('says that the data folder belongs to a running process, which it leaves alone', async () => {
    const here = await site('embedded')
    const url = await main(here).ready()
    const lines = await startProblemLines(main(here))
    const remedy = 'Stop that process, or set DATA_DIR to another folder'
    expect(lines).to.deep.equal([
      `DATA_DIR: ${here.env.DATA_DIR} cannot be used: another process is using it. ${remedy}`,
    ])
    expect((await fetch(`${url}/readyz`)).status).to.equal(200)
  })

  it('says that the data folder cannot be made', async () => {
    const here = await site('embedded')
    const DATA_DIR = join(await here.write('file', ''), 'folder')
    for (const env of [{}, { NODE_ENV: 'production', ENGINE: 'embedded', ...secrets }]) {
      const lines = await startProblemLines(main(here, { ...env, DATA_DIR }))
      expect(lines).to.deep.equal([
        `DATA_DIR: ${DATA_DIR} cannot be used: a part of its path is a file, not a folder. Set DATA_DIR to a folder that this user may write to`,
      ])
    }
  })

  it('says so of a place where the system makes no folders, and does not try for ever', async function () {
    if (process.platform !== 'linux') this.skip() // /proc is Linux's
    const here = await site('embedded')
    const refused = main(here, { DATA_DIR: '/proc/countersign' })
    const hung = setTimeout(() => refused.process.kill('SIGKILL'), MAX_REFUSAL_MS)
    const lines = await startProblemLines(refused).finally(() => clearTimeout(hung))
    expect(lines).to.deep.equal([
      'DATA_DIR: /proc/countersign cannot be used: the system makes no folders there. Set DATA_DIR to a folder that this user may write to',
    ])
  })

  it('says that the database in the data folder is none', async () => {
    const here = await site('embedded')
    await here.write('countersign.db', 'These are the words of a text file. '.repeat(100))
    const lines = await startProblemLines(main(here))
    expect(lines).to.deep.equal([
      `DATA_DIR: ${here.env.DATA_DIR} cannot be used: its countersign.db is no database. Restore it, or set DATA_DIR to another folder`,
    ])
  })

  it('says which options and roles there are', async () => {
    const lines = await startProblemLines(main(await site('embedded'), {}, ['--port', 'postman']))
    expect(lines).to.have.length(2)
    expect(lines[0]).to.match(/^roles: there is no option --port: there is --help, and the roles are edge, otp, /)
    expect(lines[1]).to.match(/^roles: "postman" is none of edge, otp, /)
  })
})

describe('--help', () => {
  const { site, main } = useProcesses()

  for (const option of ['--help', '-h'])
    it(`prints roles, variables and their defaults for ${option}, and starts nothing`, async () => {
      const here = await site('embedded')
      // Wrong settings do not keep a person from reading how to set them.
      const helped = main(here, { PORT: '99999' }, [option])
      expect(await helped.exited).to.deep.equal({ code: 0, signal: null })
      const text = helped.lines.join('\n')
      for (const role of ROLES) expect(text).to.contain(`  ${role} `)
      expect(text).to.match(/^ {2}PORT +3000 /m)
      expect(text).to.match(/^ {2}DATA_DIR +\.\/\.data /m)
      expect(text).to.contain('docs/configuration.md')
      expect(helped.stderr()).to.equal('')
      expect(existsSync(join(here.env.DATA_DIR ?? '', 'countersign.db'))).to.equal(false)
    })
})

describe('a process whose engines do not answer', () => {
  const { site, main } = useProcesses()

  /** On a busy machine an engine may be awaited before anything is known of it: that line does not count. */
  const awaitedLines = async (started: CountersignProcess): Promise<Map<string, Record<string, unknown>>> => {
    const isFor = (engine: string) => (line: string) =>
      line.includes('"msg":"engine.awaited"') &&
      line.includes(`"engine":"${engine}"`) &&
      !line.includes('it has not answered yet')
    const lines = await Promise.all(['MongoDB', 'RabbitMQ'].map(engine => started.waitForLine(isFor(engine))))
    return new Map(lines.map(line => JSON.parse(line)).map(line => [line.engine, line]))
  }
  const urls = (host: string) => ({
    MONGODB_URL: `mongodb://ann:pa55@${host}:1/x`,
    AMQP_URL: `amqp://ann:pa55@${host}:1`,
  })

  const cases: Record<string, RegExp> = {
    '127.0.0.1': /^it refuses connections/,
    'no.such.invalid': /^there is no such/,
  }
  for (const [host, why] of Object.entries(cases))
    it(`says so after a second, and why, and goes on: ${host}`, async () => {
      const started = main(await site('embedded'), urls(host))
      const lines = await awaitedLines(started)
      for (const [engine, setting] of [
        ['MongoDB', 'MONGODB_URL'],
        ['RabbitMQ', 'AMQP_URL'],
      ]) {
        const line = lines.get(engine ?? '')
        expect(line).to.deep.include({ level: 'warn', setting, hosts: [`${host}:1`] })
        expect(line?.why).to.match(why)
        expect(line?.remedy).to.equal(`this process keeps trying: start ${engine}, or correct ${setting}`)
        expect(line?.waited_ms).to.be.at.least(900)
        expect(line).not.to.have.property('err')
      }
      const { status } = await fetch(`${await started.url()}/healthz`)
      expect(status, 'it lives').to.equal(200)
      expect(started.lines.join('\n'), 'no password is logged').not.to.contain('pa55')
      const failures = started.lines.join('\n').split('"msg":"broker.connect_failed"').length - 1
      expect(failures, 'one for each of two connections').to.be.at.most(2)
    })
})

onRealEngines('a process that its engines refuse', { AMQP_URL, MONGODB_URL }, () => {
  const { site, main } = useProcesses()
  const withPassword = (url = ''): string => url.replace(/:\/\/(?:[^@/]*@)?/, '://ann:pa55@')

  it('ends when MongoDB refuses its password, and names the variable', async () => {
    const here = await site('real')
    const refused = main(here, { MONGODB_URL: withPassword(here.env.MONGODB_URL) })
    expect(await refused.exited).to.deep.equal({ code: 1, signal: null })
    const [first, ...lines] = refused.stderr().trimEnd().split('\n')
    expect(first).to.equal('Countersign cannot start.')
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^MONGODB_URL: MongoDB at \S+ refuses the user or the password\. Correct them/)
    expect(refused.lines.join('\n'), 'found before it says that it listens').not.to.contain('countersign.listening')
    expect(refused.stderr() + refused.lines.join('\n')).not.to.contain('pa55')
  })

  it('says that RabbitMQ refuses its password, and goes on', async () => {
    const here = await site('real')
    const started = main(here, { AMQP_URL: withPassword(here.env.AMQP_URL) })
    // On a busy machine an engine may be awaited before it has answered at all.
    const why = 'it refuses the user or the password'
    const isRefusal = (text: string): boolean => text.includes('"msg":"engine.awaited"') && text.includes(why)
    expect(JSON.parse(await started.waitForLine(isRefusal))).to.include({
      engine: 'RabbitMQ',
      setting: 'AMQP_URL',
      why,
    })
    expect(started.lines.join('\n')).not.to.contain('pa55')
  })
})

// What a process prints when it cannot start: every problem, in plain lines, and exit 1.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { secrets } from '../support/config.ts'
import { useShellServers } from '../support/http-shell.ts'
import { type CountersignProcess, useProcesses } from '../support/processes.ts'

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
      ['CODE_SECRETS', 'DATA_KEYS', 'ADMIN_TOKEN'].map(name => `${name}: is missing: production needs it`),
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
    await main(here, { DATA_KEYS: secrets.DATA_KEYS, LOST_DATA_KEYS: 'dev' }).ready()
  })

  it('says that the port is in use', async () => {
    const { port } = await startServer()
    const lines = await startProblemLines(main(await site('embedded'), { PORT: `${port}` }))
    expect(lines).to.deep.equal([`cannot listen on port ${port} of 127.0.0.1: another process is using it`])
  })

  it('says that the data folder belongs to a running process, which it leaves alone', async () => {
    const here = await site('embedded')
    const url = await main(here).ready()
    const lines = await startProblemLines(main(here))
    expect(lines).to.deep.equal([`another process is using ${here.env.DATA_DIR}`])
    expect((await fetch(`${url}/readyz`)).status).to.equal(200)
  })

  it('says that the data folder cannot be made', async () => {
    const here = await site('embedded')
    const lines = await startProblemLines(main(here, { DATA_DIR: join(await here.write('file', ''), 'folder') }))
    expect(lines).to.have.length(1)
    expect(lines[0]).to.contain('ENOTDIR')
  })
})

// The command line against a running Countersign, as an operator uses it. The engine decides nothing here, so it runs on the embedded ones.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { type Answer, ask } from '../../support/api-caller.ts'
import { spawnChild, spawnCommand } from '../../support/child.ts'
import { CLI, type CliResult, useCli } from '../../support/cli.ts'
import { type Countersign, startCountersign } from '../../support/countersign.ts'
import { eventually } from '../../support/eventually.ts'
import { freshNumber } from '../../support/flow.ts'

async function listen(server: Server): Promise<{ server: Server; url: string }> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('the command line', () => {
  let countersign: Countersign
  let token = ''
  const cli = useCli(() => ({ COUNTERSIGN_URL: countersign.url, COUNTERSIGN_TOKEN: token }))
  /** Without the environment's address and token. */
  const WITH_PROFILE = { COUNTERSIGN_URL: '', COUNTERSIGN_TOKEN: '' }

  before(async () => {
    countersign = await startCountersign({ engines: 'embedded', bootstrap: { companies: [] } })
    token = countersign.secrets.adminTokens[0]?.token ?? ''
  })
  after(async () => {
    await countersign.stop()
    await countersign.site.wipe()
  })

  const json = async (...args: string[]) => {
    const result = await cli([...args, '--json'])
    expect(result.code, result.stderr).to.equal(0)
    return result.json()
  }
  const call = (path: string, bearer: string, body: object, method = 'POST'): Promise<Answer> =>
    ask(`${countersign.url}${path}`, { method, token: bearer, body: JSON.stringify(body) })
  /** What is not the subject of a test is done over HTTP: a process takes longer. */
  async function admin(method: string, path: string, body: object): Promise<Answer['body']> {
    const answer = await call(`/admin/v1${path}`, token, body, method)
    expect(answer.status, answer.text).to.be.below(300)
    return answer.body
  }
  async function createApp(): Promise<{ company: string; app: string; key: string }> {
    const { id: company } = await admin('POST', '/companies', { name: 'Acme' })
    const { id: app } = await admin('POST', `/companies/${company}/apps`, { name: 'Shop' })
    const { key } = await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' })
    return { company, app, key }
  }

  describe('as a program', () => {
    it('shows every command and examples in its help', async () => {
      const { code, stdout } = await cli(['--help'])
      expect(code).to.equal(0)
      for (const word of ['companies', 'settings', 'queues', 'erase', 'Examples:', 'Exit codes:'])
        expect(stdout).to.include(word)
    })

    it('ends with 2 and says so when it is used wrongly', async () => {
      const results = await Promise.all([
        cli(['nonsense']),
        cli(['keys', 'create', 'app_a', '--kind', 'server']),
        cli(['companies', 'list', '--limit', '0']),
        cli(['companies', 'list', '--url', 'ftp://example.com']),
        cli(['queues', 'drop', 'webhook.deliver', '--all']),
        cli(['companies', 'list'], { env: { COUNTERSIGN_TOKEN: '' } }),
      ])
      expect(results.map(({ code }) => code)).to.deep.equal([2, 2, 2, 2, 2, 2])
      expect(results[1]?.stderr).to.include('--mode')
      expect(results[4]?.stderr).to.include('--yes')
      expect(results[5]?.stderr).to.include('countersign login')
    })

    it('ends with 3 when the deployment cannot be reached', async () => {
      const closed = await listen(createServer())
      closed.server.close()
      const { code, stderr } = await cli(['companies', 'list', '--url', closed.url])
      expect(code).to.equal(3)
      expect(stderr).to.equal(`countersign: ${closed.url} cannot be reached: ECONNREFUSED\n`)
    })

    it('ends with 1 when it is refused, and shows detail, fields and the page that helps', async () => {
      const [words, problem] = await Promise.all([
        cli(['companies', 'create', '']),
        cli(['companies', 'show', 'cmp_none', '--json']),
      ])
      expect(words.code).to.equal(1)
      expect(words.stderr).to.match(/422 ValidationError\)\n {2}name .+\n {2}What to do: http:\S+\/docs\S+\n/)
      expect(problem.code).to.equal(1)
      expect(JSON.parse(problem.stderr)).to.include({ status: 404 })
      expect(problem.stdout).to.equal('')
    })

    it('does not follow a redirect with its token', async () => {
      const seen: string[] = []
      const server = createServer(({ url = '' }, answer) => {
        seen.push(url)
        answer.writeHead(302, { location: '/elsewhere' }).end()
      })
      const { url } = await listen(server)
      const { code, stderr } = await cli(['companies', 'list', '--url', url])
      server.close()
      expect(code).to.equal(3)
      expect(stderr).to.include('redirects to /elsewhere')
      expect(seen).to.deep.equal(['/admin/v1/companies?limit=50'])
    })

    it('replaces control characters in what others have named', async () => {
      const { id } = await admin('POST', '/companies', { name: 'Acme\u202e evil' })
      const { stdout } = await cli(['companies', 'show', id])
      expect(stdout).to.include('Acme\ufffd evil')
    })

    it('completes commands and options in bash', async () => {
      const { stdout } = await cli(['completion', 'bash'])
      const complete = (...typed: string[]) => {
        const words = ['countersign', ...typed].map(word => `'${word}'`).join(' ')
        const script = `${stdout}\nCOMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _countersign; echo "\${COMPREPLY[@]}"`
        return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim()
      }
      expect(complete('comp')).to.equal('companies completion')
      expect(complete('keys', 'cr')).to.equal('create')
      expect(complete('keys', 'create', 'app_a', '--k')).to.equal('--kind')
      expect(complete('--json', 'queues', 'requeue', 'q', '--a')).to.equal('--all')
    })

    for (const [shell, line] of [
      ['zsh', "    'keys create') words_next='--kind --mode --name' ;;"],
      ['fish', "complete -c countersign -n '__countersign_at keys create' -l kind -d 'who uses it'"],
    ] as const)
      it(`has the same words for ${shell}`, async () => {
        expect((await cli(['completion', shell])).stdout.split('\n')).to.include(line)
      })
  })

  describe('a profile', () => {
    const login = (stdin: string): Promise<CliResult> =>
      cli(['login', '--url', countersign.url, '--token-stdin'], { stdin, env: WITH_PROFILE })
    const folder = (): string => join(cli.config, 'countersign')
    const files = (): string[] => (existsSync(folder()) ? readdirSync(folder()) : [])

    it('is written by login for its owner alone, is used, and is removed by logout', async () => {
      expect((await login(`${token}\n`)).code).to.equal(0)
      const file = join(folder(), 'default.json')
      expect(statSync(file).mode & 0o777).to.equal(0o600)
      expect(statSync(folder()).mode & 0o777).to.equal(0o700)
      expect((await cli(['companies', 'list'], { env: WITH_PROFILE })).code).to.equal(0)
      // A file that others could read is closed to them by the next login.
      chmodSync(file, 0o644)
      await login(token)
      expect(statSync(file).mode & 0o777).to.equal(0o600)
      await cli(['logout'], { env: WITH_PROFILE })
      expect(files()).to.deep.equal([])
    })

    it('is not written for a token that the deployment refuses', async () => {
      const { code, stderr } = await login('wrong')
      expect(code, stderr).to.equal(1)
      expect(files()).to.deep.equal([])
    })

    it('counts before the environment where it is named, and only there', async () => {
      await cli(['login', '--url', countersign.url, '--token-stdin', '--profile', 'mine'], { stdin: token })
      const env = { COUNTERSIGN_URL: countersign.url, COUNTERSIGN_TOKEN: 'wrong' }
      expect((await cli(['companies', 'list', '--profile', 'mine'], { env })).code).to.equal(0)
      expect((await cli(['companies', 'list'], { env })).code).to.equal(1)
      const missing = await cli(['companies', 'list', '--profile', 'yours'], { env: { COUNTERSIGN_TOKEN: token } })
      expect(missing.code).to.equal(2)
      expect(missing.stderr).to.include('countersign login --profile yours')
      await cli(['logout', '--profile', 'mine'])
    })

    it('keeps its token from every other address', async () => {
      await login(token)
      const asked: (string | undefined)[] = []
      const other = createServer(({ headers }, answer) => {
        asked.push(headers.authorization)
        answer.end('{}')
      })
      const { url } = await listen(other)
      const { code } = await cli(['companies', 'list', '--url', url], { env: WITH_PROFILE })
      other.close()
      expect({ code, asked }).to.deep.equal({ code: 2, asked: [] })
      await cli(['logout'])
    })
  })

  describe('operates', () => {
    it('companies, apps and keys, from the first to the last', async () => {
      const { id: company } = await json('companies', 'create', 'Acme')
      const { id: app } = await json('apps', 'create', company, 'Shop')
      const key = await json('keys', 'create', app, '--kind', 'server', '--mode', 'test', '--name', 'checkout')
      expect(key.key).to.match(/^sk_test_/)
      const [companies, apps] = await Promise.all([
        json('companies', 'list', '--limit', '500'),
        cli(['apps', 'list', company]),
      ])
      expect(companies.map(({ id }: { id: string }) => id)).to.include(company)
      expect(apps.stdout).to.match(new RegExp(`^ID .*NAME .*\n${app} +Shop `))
      expect(await json('companies', 'rename', company, 'Acme Ltd')).to.include({ name: 'Acme Ltd' })
      await json('keys', 'revoke', key.id, '--yes')
      expect((await json('keys', 'list', app))[0].revoked_at).to.be.a('string')
      expect((await json('apps', 'close', app, '--yes')).closed_at).to.be.a('string')
      expect((await json('apps', 'reopen', app)).closed_at).to.equal(null)
      const refused = await cli(['apps', 'delete', app, '--yes'])
      expect(refused.code).not.to.equal(0)
      expect(refused.stderr).to.include('30 days later it can be deleted')
    })

    it('users', async () => {
      const { company } = await createApp()
      const user = await json('users', 'invite', company, 'ada@shop.example', '--role', 'developer')
      expect((await json('users', 'list', company))[0]).to.include({ id: user.id, role: 'developer' })
      await json('users', 'remove', user.id, '--yes')
    })

    it('credit, once for an idempotency key', async () => {
      const { company } = await createApp()
      const add = ['credit', 'add', company, '5000000', '--note', 'invoice 17', '--idempotency-key', 'invoice-17']
      const [first, again, wrong] = await Promise.all([
        json(...add),
        json(...add),
        cli(['credit', 'add', company, '1.5']),
      ])
      expect([first.balance, again.balance, wrong.code]).to.deep.equal([5_000_000, 5_000_000, 2])
      expect(await json('credit', 'list', company)).to.have.length(1)
    })

    it('credit, whose key is told where the answer does not say whether it was added', async () => {
      const proxy = await listen(createServer((_, answer) => void answer.writeHead(502).end('Bad Gateway')))
      const { code, stderr } = await cli([
        'credit',
        'add',
        'cmp_1',
        '5000000',
        '--note',
        'a transfer',
        '--url',
        proxy.url,
      ])
      proxy.server.close()
      expect(code).to.equal(1)
      expect(stderr).to.match(/answered 502; to repeat it safely: --idempotency-key [\w-]{36} \(502\)/)
    })

    it('pages of a list, up to the limit', async () => {
      const asked: string[] = []
      const { server, url } = await listen(
        createServer((request, answer) => {
          const { searchParams } = new URL(request.url ?? '', 'http://localhost')
          asked.push(searchParams.toString())
          const items = Array.from({ length: Number(searchParams.get('limit')) }, () => ({ id: 'cmp_1' }))
          answer.setHeader('content-type', 'application/json')
          answer.end(JSON.stringify({ items, next_cursor: 'more' }))
        }),
      )
      const { stdout } = await cli(['companies', 'list', '--limit', '102', '--json', '--url', url])
      server.close()
      expect(JSON.parse(stdout)).to.have.length(102)
      expect(asked).to.deep.equal(['limit=100', 'limit=2&cursor=more'])
    })

    it('settings: set, get and diff', async () => {
      const { company, app } = await createApp()
      const set = await cli(['settings', 'set', app, 'code.length=8', 'locale=de', 'routing.default=["sms"]'])
      expect(set.stdout).to.match(/code\.length +6 +8\n/)
      expect(await json('settings', 'get', app, 'code.length')).to.equal(8)
      expect((await cli(['settings', 'get', app, 'code'])).stdout).to.match(/code\.length +8\n/)
      expect((await cli(['settings', 'get', app, 'code.nothing'])).code).to.equal(2)
      const { id: other } = await admin('POST', `/companies/${company}/apps`, { name: 'Other' })
      const differing = (await json('settings', 'diff', app, other)).map(({ path }: { path: string }) => path)
      expect(differing).to.deep.equal(['code.length', 'locale', 'routing.default'])
      const file = join(cli.config, 'settings.json')
      writeFileSync(file, JSON.stringify({ code: { length: 6 }, locale: 'de' }))
      expect(await json('settings', 'diff', app, file)).to.deep.equal([{ path: 'code.length', left: 8, right: 6 }])
      await json('settings', 'set', app, '--file', file)
      expect(await json('settings', 'diff', app, file)).to.deep.equal([])
      const refused = await cli(['settings', 'set', app, 'code.length=3'])
      expect(refused.code).to.equal(1)
      expect(refused.stderr).to.include('settings.code.length')
    })

    it('address lists: an import leaves the others, says how it goes, and fails aloud', async () => {
      const file = join(cli.config, 'ranges.txt')
      writeFileSync(file, '45.95.147.0/24\n185.220.101.0/24\n')
      await json('lists', 'import', 'tor', file)
      const imported = await cli(['lists', 'import', 'vpn', '-', '--name', 'vendor', '--json'], {
        stdin: '8.8.8.0/24\n',
      })
      expect(imported.json()).to.include({ status: 'ready', ranges: 1 })
      expect(imported.stderr).to.include('Sending 11 characters')
      const lists = await json('lists', 'list')
      expect(lists.map(({ name, ranges }: { name: string; ranges: number }) => [name, ranges])).to.have.deep.members([
        ['default', 2],
        ['vendor', 1],
      ])
      const failed = await cli(['lists', 'import', 'tor', '-', '--name', 'bad'], { stdin: 'no range\nnone either\n' })
      expect(failed.code).to.equal(1)
      expect(failed.stderr).to.include('the import failed')
    })

    it('events and erasure', async () => {
      const { company, app, key } = await createApp()
      const recipient = freshNumber()
      await call('/api/v1/otp/send', key, { recipient })
      expect((await cli(['events', 'replay-range', app, '--since', '2020-01-01T00:00:00Z'])).stderr).to.include('409')
      await admin('POST', `/apps/${app}/endpoints`, { url: 'https://shop.example/hooks', status: 'paused' })
      const result = await json('events', 'replay-range', app, '--since', '2020-01-01T00:00:00Z')
      expect(result.replayed).to.be.a('number')
      expect((await cli(['events', 'replay', 'evt_none'])).code).to.equal(1)
      expect((await cli(['erase', app, recipient])).code).to.equal(2)
      const erased = await cli(['erase', company, '-', '--yes', '--json'], { stdin: `${recipient}\n` })
      expect(erased.json()).to.include({ verifications: 1 })

      const journal = await cli(['erasures', 'export'])
      const lines = journal.stdout.split('\n').filter(line => line.includes(app))
      expect(lines).to.have.length(2)
      expect((await cli(['erasures', 'export', '--since', '2100-01-01T00:00:00Z'])).stdout).to.equal('')
      expect((await cli(['erasures', 'replay', '-'])).code).to.equal(2)
      const many = Array.from({ length: 1_001 }, () => lines[0]).join('\n')
      const replayed = await cli(['erasures', 'replay', '-', '--yes', '--json'], { stdin: many })
      expect(replayed.json()).to.deep.include({ entries: 1_001 })
      expect(replayed.json().erased).to.include({ verifications: 0 })
      const refused = await cli(['erasures', 'replay', '-', '--yes'], { stdin: `${many}\n{}` })
      expect(refused.code).to.equal(1)
      expect(refused.stderr).to.match(/the lines before line 1001 .*\n {2}line 2 app_id is required/)
    })

    it('queues and their dead letters', async () => {
      const { stdout } = await cli(['queues', 'list'])
      expect(stdout).to.match(/^QUEUE +READY +OLDEST MS +OWED +OWED S +CONSUMERS +DEAD\n/)
      expect(await json('queues', 'dead', 'webhook.deliver')).to.deep.equal([])
      expect(await json('queues', 'requeue', 'webhook.deliver', '--all')).to.deep.equal({ requeued: 0 })
      expect((await cli(['queues', 'requeue', 'webhook.deliver'])).code).to.equal(2)
    })
  })

  describe('doctor', () => {
    interface Finding {
      state: string
      check: string
      text: string
    }
    const findings = ({ stdout }: CliResult): Finding[] => JSON.parse(stdout).findings

    it('finds nothing in a sound deployment', async () => {
      const { app } = await createApp()
      const { code, stdout } = await cli(['doctor', '--app', app])
      expect(code).to.equal(0)
      for (const words of ['is ready: ', 'The clock there agrees', 'queues is served', 'nothing found'])
        expect(stdout).to.include(words)
      expect(stdout).to.not.match(/BROKEN|RISKY/)
    })

    it('says in words what is broken and what is risky, and ends with 1', async () => {
      const { app } = await createApp()
      const settings = { publishable_send: true, publishable_challenge: 'off', fraud_guard: { mode: 'off' } }
      await admin('PATCH', `/apps/${app}`, { settings })
      await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })
      const endpoint = { name: 'billing', url: 'https://shop.example/hooks' }
      const { id } = await admin('POST', `/apps/${app}/endpoints`, endpoint)
      await admin('PATCH', `/endpoints/${id}`, { status: 'paused' })
      const result = await cli(['doctor', '--app', app, '--json'])
      expect(result.code, result.stderr).to.equal(1)
      const found = findings(result).map(({ state, text }) => `${state}: ${text}`)
      const about = (words: string): string[] => found.filter(text => text.includes(words))
      expect(about('no live send leaves')[0]).to.match(/^broken: Shop/)
      expect(about('without challenges')[0]).to.match(/^risky/)
      expect(about('fraud guard is off')).to.have.length(1)
      expect(about('allowed_origins is empty')).to.have.length(1)
      expect(about('sms is in the default order')).to.have.length(1)
      expect(about('the webhook endpoint billing is paused')[0]).to.match(/^broken/)
    })

    for (const { what, change, named, answer } of [
      { what: 'whose type is unknown', change: { type: 'pigeon' }, named: 'own (pigeon)', answer: 409 },
      { what: 'whose data key is missing', change: { config: 'v1.gone.x' }, named: 'own (sandbox)', answer: 503 },
    ])
      it(`counts no provider ${what} as one that sends`, async () => {
        const { app } = await createApp()
        const { key } = await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })
        await admin('PUT', `/apps/${app}/providers/own`, { type: 'sandbox', channel: 'sms' })
        await countersign.engines.store.docs('providers').modify({ _id: `${app}:own` }, { $set: change })
        const result = await cli(['doctor', '--app', app, '--json'])
        expect(result.code, result.stderr).to.equal(1)
        const texts = findings(result).map(({ text }) => text)
        for (const words of [
          `the server cannot read the provider ${named}`,
          'no live send leaves',
          'sms is in the default order',
        ])
          expect(
            texts.filter(text => text.includes(words)),
            words,
          ).to.have.length(1)
        // Refused, or to be tried again later: neither leaves.
        expect((await call('/api/v1/otp/send', key, { recipient: freshNumber() })).status).to.equal(answer)
      })

    it('checks that vendors reach the callbacks, of a provider that can be read', async () => {
      const { app } = await createApp()
      const config = { url: 'https://gateway.example/send', secret: 'a-secret-of-16-characters' }
      const put = (name: string) =>
        admin('PUT', `/apps/${app}/providers/${name}`, { type: 'http', channel: 'sms', config })
      await put('newer')
      await countersign.engines.store.docs('providers').modify({ _id: `${app}:newer` }, { $set: { type: 'pigeon' } })
      const unread = await cli(['doctor', '--app', app, '--json'])
      await put('gateway')
      const other = await listen(createServer((_, answer) => void answer.end('hello')))
      const [without, wrong, right] = await Promise.all([
        cli(['doctor', '--app', app, '--json']),
        cli(['doctor', '--app', app, '--json', '--public-url', other.url]),
        cli(['doctor', '--app', app, '--json', '--public-url', countersign.url]),
      ])
      other.server.close()
      const callbacks = (result: CliResult) => findings(result).find(({ check }) => check === 'callbacks')
      expect(callbacks(unread)?.text).to.include('No provider that can be read reports receipts')
      expect(callbacks(without)?.text).to.include('PUBLIC_URL is not set')
      expect(callbacks(wrong)?.text).to.match(/gateway answers 200, which is not Countersign/)
      expect(callbacks(right)?.state).to.equal('ok')
      expect((await cli(['doctor', '--app', app, '--public-url', 'verify.example.com'])).code).to.equal(2)
    })
  })

  it('tail shows new verifications and their changes, not those from before', async () => {
    const { app, key } = await createApp()
    const { body: before } = await call('/api/v1/otp/send', key, { recipient: freshNumber() })
    // Where a real deployment restarts, its proxy answers for it.
    let isAway = false
    const proxy = await listen(
      createServer(async (request, answer) => {
        if (isAway) return void answer.writeHead(502).end('Bad Gateway')
        const { status, body } = await ask(`${countersign.url}${request.url}`, { token })
        answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }),
    )
    const tail = spawnChild(CLI, { COUNTERSIGN_URL: proxy.url, COUNTERSIGN_TOKEN: token }, [
      'tail',
      '--app',
      app,
      '--interval',
      '1',
    ])
    await eventually(() => expect(tail.stderr()).to.include('Waiting'))
    const { otp_id } = (await call('/api/v1/otp/send', key, { recipient: freshNumber() })).body
    await tail.waitForLine(line => line.includes(otp_id) && line.includes('pending'))
    isAway = true
    await eventually(() => expect(tail.stderr()).to.include('the server answered 502'))
    isAway = false
    await call('/api/v1/otp/cancel', key, { otp_id })
    await tail.waitForLine(line => line.includes(otp_id) && line.includes('canceled'))
    await call('/api/v1/otp/cancel', key, { otp_id: before.otp_id })
    const line = await tail.waitForLine(one => one.includes(before.otp_id))
    expect(line).to.include('canceled')
    tail.process.kill('SIGINT')
    await tail.exited
    proxy.server.closeAllConnections()
    proxy.server.close()
  })

  it('listen hands new events to a local address, signed, again until it accepts them', async () => {
    const { app, key } = await createApp()
    const received: { headers: IncomingHttpHeaders; body: string }[] = []
    const receivedByOther: typeof received = []
    const receivedByThird: typeof received = []
    const receiver = await listen(
      createServer(async (request, answer) => {
        const all = { '/other/': receivedByOther, '/third': receivedByThird }[request.url ?? ''] ?? received
        all.push({ headers: request.headers, body: await text(request) })
        answer.writeHead(all === received && all.length === 1 ? 500 : 204).end()
      }),
    )
    const send = async (): Promise<string> =>
      (await call('/api/v1/otp/send', key, { recipient: '+15005550010' })).body.otp_id
    const earlier = await send()
    const events = async () => (await ask(`${countersign.url}/admin/v1/apps/${app}/events`, { token })).body.items
    await eventually(async () => expect(await events()).to.have.length(1))
    const env = { COUNTERSIGN_URL: countersign.url, COUNTERSIGN_TOKEN: token }
    const listening = spawnChild(CLI, env, ['listen', app, receiver.url])
    const ownSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const withSecret = { ...env, COUNTERSIGN_WEBHOOK_SECRET: ownSecret }
    const other = spawnChild(CLI, withSecret, ['listen', app, `${receiver.url}/other/`])
    const stdinSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    const fromStdin = `exec "$0" "$1" listen ${app} ${receiver.url}/third --secret - <<< ${stdinSecret}`
    const third = spawnCommand('bash', ['-c', fromStdin, process.execPath, CLI], env)
    await eventually(() => {
      for (const { stderr } of [listening, other, third]) expect(stderr()).to.include('Events of')
    })
    for (const { stderr } of [other, third]) expect(stderr()).to.not.match(/whsec_|list of processes/)
    const [, secret = ''] = /Signing secret: (whsec_\S+)/.exec(listening.stderr()) ?? []
    const otp_id = await send()
    await listening.waitForLine(line => line.endsWith('→  500'))
    await listening.waitForLine(line => line.endsWith('→  204'))
    for (const one of [other, third]) await one.waitForLine(line => line.endsWith('→  204'))
    for (const { process, exited } of [listening, other, third]) {
      process.kill('SIGINT')
      await exited
    }
    receiver.server.close()
    expect([received.length, receivedByOther.length, receivedByThird.length]).to.deep.equal([2, 1, 1])
    const expectSigned = (by: string, { headers, body }: (typeof received)[number]): void => {
      const event = new Webhook(by).verify(body, headers as Record<string, string>) as { payload: { otp_id: string } }
      expect(event.payload.otp_id).to.equal(otp_id).and.not.equal(earlier)
    }
    for (const one of received) expectSigned(secret, one)
    for (const one of receivedByOther) expectSigned(ownSecret, one)
    for (const one of receivedByThird) expectSigned(stdinSecret, one)
  })

  it('listen warns of a secret among its arguments, and refuses an empty one on stdin', async () => {
    const args = ['listen', 'app_nosuch', 'http://127.0.0.1:1', '--secret']
    const warned = await cli([...args, 'whsec_c2VjcmV0IGFtb25nIGFyZ3VtZW50cw=='])
    expect(warned.code).to.equal(1)
    expect(warned.stderr).to.include('list of processes: use COUNTERSIGN_WEBHOOK_SECRET')
    const empty = await cli([...args, '-'], { stdin: '\n' })
    expect([empty.code, empty.stderr.includes('found no secret on stdin')]).to.deep.equal([2, true])
  })

  it('init writes a bootstrap file and keys with which the server starts', async () => {
    const file = join(cli.config, 'bootstrap.json')
    const args = ['init', file, '--company', 'Acme Ltd', '--channels', 'email,sms', '--countries', 'US', '--defaults']
    const { code, stderr } = await cli(args)
    expect(code, stderr).to.equal(0)
    expect((await cli(args)).code).to.equal(2)
    const key_file = join(cli.config, 'countersign-keys/test')
    expect(statSync(key_file).mode & 0o777).to.equal(0o600)
    const other = await startCountersign({ engines: 'embedded', env: { BOOTSTRAP_FILE: file } })
    try {
      const sent = await ask(`${other.url}/api/v1/otp/send`, {
        method: 'POST',
        token: readFileSync(key_file, 'utf8'),
        body: JSON.stringify({ recipient: freshNumber() }),
      })
      expect(sent.body).to.include({ channel: 'sms' })
    } finally {
      await other.stop()
      await other.site.wipe()
    }
  })

  it('is the bin of the package', () => {
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(statSync(bin.countersign).mode & 0o111).to.not.equal(0)
  })
})

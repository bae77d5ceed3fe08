// Operators: who they are, and how guessing their tokens is slowed down.
import { Router } from '@koa/router'
import { expect } from 'chai'
import fc from 'fast-check'
import type { LogLevel } from '../../../infra/config/config.ts'
import { createFindCaller } from '../../../infra/http/caller-address.ts'
import { createMetricsRouter } from '../../../infra/http/metrics.ts'
import { createIdentifyOperator, type OperatorDeps } from '../../../infra/http/operators.ts'
import { Problem } from '../../../infra/http/problem.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { useShellServers } from '../../support/http-shell.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const ann = { name: 'ann', token: 'token-of-ann' }
const bob = { name: 'bob', token: 'token-of-bob' }

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }

/** Operators and a caller that asks from an address; `status` is 200 for an operator. */
function createOperators({ tokens = [ann, bob], proxies = [] as string[], level = 'trace' as LogLevel } = {}) {
  const [clock, captured] = [testClock(), createCapturedLog({ level })]
  const deps: OperatorDeps = { tokens, findCaller: createFindCaller(proxies), clock, log: captured.log }
  const identifyRequest = createIdentifyOperator(deps)
  const identify = (authorization: string, address = '8.8.8.8', forwardedFor = ''): string =>
    identifyRequest({
      get: header => (header === 'authorization' ? authorization : forwardedFor),
      req: { socket: { remoteAddress: address } },
    })
  const refusal = (...request: Parameters<typeof identify>): Problem => {
    try {
      identify(...request)
    } catch (refused) {
      if (refused instanceof Problem) return refused
      throw refused
    }
    throw new Error('not refused')
  }
  const status = (...request: Parameters<typeof identify>): number => {
    try {
      identify(...request)
      return 200
    } catch (refused) {
      return (refused as Problem).status
    }
  }
  const guess = (times: number, ...from: string[]): number[] =>
    Array.from({ length: times }, (_, at) => status(`Bearer guess-${at}`, ...from))
  return { identify, refusal, status, guess, clock, captured }
}

const [RIGHT, WRONG] = ['Bearer token-of-ann', 'Bearer token-of-eve']
const tenTimes = (status: number): number[] => Array(10).fill(status)

describe('an operator', () => {
  it('is identified by the token', () => {
    const { identify } = createOperators()
    expect(identify('Bearer token-of-ann')).to.equal('ann')
    expect(identify('bearer  token-of-bob')).to.equal('bob')
  })

  it('is not identified by another text', () => {
    const others = ['', 'token-of-ann', 'Bearer', 'Bearer ', 'Bearer token-of-an', 'Bearer token-of-annn']
    for (const given of [...others, 'Bearer TOKEN-OF-ANN', 'Bearer token-of-ann token-of-bob', 'Basic token-of-ann'])
      expect(createOperators().refusal(given), given).to.deep.include({
        status: 401,
        extras: { detail: "An operator's token is needed.", headers: CHALLENGE },
      })
    expect(createOperators({ tokens: [] }).status('Bearer '), 'where no token is set').to.equal(401)
  })

  it('is compared with every token, so that the time does not tell which one matches', () => {
    const compared: string[] = []
    const watched = [ann, bob].map(({ name, token }) => ({
      name,
      get token() {
        compared.push(name)
        return token
      },
    }))
    const { identify } = createOperators({ tokens: watched })
    for (const given of ['Bearer token-of-ann', 'Bearer token-of-bob']) identify(given)
    expect(compared).to.deep.equal(['ann', 'bob', 'ann', 'bob'])
  })
})

describe('wrong operator tokens', () => {
  it('are refused with 401 ten times a minute, and then with 429 until the minute is over', async () => {
    const { guess, refusal, clock } = createOperators()
    expect(guess(9)).to.deep.equal(Array(9).fill(401))
    await clock.advance(10_500)
    expect(guess(3)).to.deep.equal([401, 429, 429])
    const { type, title, status, extras } = refusal(WRONG)
    expect({ type, title, status }).to.deep.equal({
      type: 'RateLimitExceededError',
      title: 'Too many requests',
      status: 429,
    })
    expect(extras).to.deep.equal({
      detail: "Too many wrong operator's tokens came from this address.",
      members: { scope: 'operator_token', retry_after: 50 },
      headers: { 'Retry-After': '50' },
    })
    await clock.advance(49_499)
    expect(guess(1)).to.deep.equal([429])
    await clock.advance(1)
    expect(guess(10), 'nine of the ten are a minute old').to.deep.equal([...Array(9).fill(401), 429])
  })

  it('are at most ten a minute in any minute, however they are spread', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 60 }), async waits => {
        const { status, clock } = createOperators()
        const compared: number[] = []
        for (const wait of waits) {
          await clock.advance(wait)
          if (status(WRONG) === 401) compared.push(clock.now())
        }
        for (const at of compared)
          expect(compared.filter(other => other > at - 60_000 && other <= at).length).to.be.at.most(10)
      }),
      { numRuns: propertyRuns(30) },
    )
  })

  it('make even the right token wait, so that a guesser gets nowhere meanwhile', async () => {
    const { guess, status, clock } = createOperators()
    for (let asked = 0; asked < 30; asked += 1) expect(status('')).to.equal(401)
    expect(status(RIGHT), 'no token is no wrong one').to.equal(200)
    guess(10)
    expect(status(RIGHT)).to.equal(429)
    expect(status(RIGHT, '8.8.4.4'), 'from another address').to.equal(200)
    await clock.advance(60_000)
    expect(status(RIGHT)).to.equal(200)
  })

  it('are counted for a whole /64 of IPv6, and for an IPv4 address however it is written', () => {
    const { guess, status } = createOperators()
    for (let host = 1; host <= 10; host += 1) guess(1, `2a00:1450:4001:81b::${host}`)
    expect(status(WRONG, '2a00:1450:4001:81b:ffff::1')).to.equal(429)
    expect(status(WRONG, '2a00:1450:4001:81c::1')).to.equal(401)
    guess(5, '8.8.8.8')
    guess(5, '::ffff:8.8.8.8')
    expect(status(WRONG, '8.8.8.8')).to.equal(429)
  })

  it('are counted for the caller that a trusted proxy names', () => {
    const { guess, status } = createOperators({ proxies: ['10.0.0.0/8'] })
    for (let at = 0; at < 10; at += 1) guess(1, '10.0.0.1', `7.7.7.${at}, 8.8.8.8`)
    expect(status(WRONG, '10.0.0.2', '8.8.8.8')).to.equal(429)
    expect(status(RIGHT, '10.0.0.2', '8.8.4.4')).to.equal(200)
  })

  it('are counted for the caller that an untrusted proxy names, and twenty times as many for the proxy', () => {
    const { guess, status } = createOperators()
    expect(guess(11, '10.0.0.1', '7.7.7.7')).to.deep.equal([...tenTimes(401), 429])
    expect(status(RIGHT, '10.0.0.1', '8.8.8.8'), 'one caller does not shut out the others').to.equal(200)
    expect(status(RIGHT, '10.0.0.2', '7.7.7.7'), 'nor one that another proxy names').to.equal(200)
    for (let at = 10; at < 200; at += 1) guess(1, '10.0.0.1', `9.9.9.${at}`)
    expect(status(RIGHT, '10.0.0.1', '8.8.8.8')).to.equal(429)
    expect(guess(11, '10.0.0.3', 'unknown'), 'a proxy that names no address').to.deep.equal([...tenTimes(401), 429])
  })

  it('are counted for the proxy where it names no caller, and for unknown callers together', () => {
    const { guess, status } = createOperators({ proxies: ['10.0.0.0/8'] })
    for (const forwardedFor of ['', 'unknown', '8.8.8.8,', '_hidden', ' ']) guess(2, '10.0.0.1', forwardedFor)
    expect(status(WRONG, '10.0.0.1', '')).to.equal(429)
    expect(status(RIGHT, '10.0.0.1', '8.8.8.8')).to.equal(200)
    expect(guess(11, '')).to.deep.equal([...tenTimes(401), 429])
  })

  it('are counted for ten thousand networks at least and twenty thousand at most: those that were wrong longest ago are forgotten', () => {
    const { guess, status } = createOperators({ level: 'error' })
    guess(10, '9.9.9.9')
    for (let at = 0; at < 9_999; at += 1) guess(1, `20.0.${at >> 8}.${at & 255}`)
    expect(status(RIGHT, '9.9.9.9')).to.equal(429)
    for (let at = 9_999; at < 20_002; at += 1) guess(1, `20.0.${at >> 8}.${at & 255}`)
    expect(status(RIGHT, '9.9.9.9')).to.equal(200)
  })

  it('are warnings in the log, each with the address in full and without the token', () => {
    const { guess, status, captured } = createOperators()
    guess(12, '203.0.113.7')
    status(RIGHT, '2001:db8:2001:1234::7')
    status('Bearer secret-guess', '2001:db8:2001:1234::7')
    status('')
    const lines = captured.lines().map(({ time, pid, ...line }) => line)
    const line = (caller_address: string, throttled: boolean) => ({
      level: 'warn',
      caller_address,
      throttled,
      msg: 'operator.token_refused',
    })
    expect(lines).to.deep.equal([
      ...Array(9).fill(line('203.0.113.7', false)),
      line('203.0.113.7', true),
      line('2001:db8:2001:1234::7', false),
    ])
    expect(captured.output()).not.to.contain('guess')
  })

  it('are logged with any address as it is: the redaction leaves it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), address => {
        const { status, captured } = createOperators()
        status(WRONG, address)
        const expected = createFindCaller([])({ get: () => '', req: { socket: { remoteAddress: address } } }).address
        expect(captured.lines()[0]?.caller_address).to.equal(expected)
      }),
    )
  })
})

describe('/metrics', () => {
  const startServer = useShellServers()
  const { log } = createCapturedLog()
  const identifyOperator = () =>
    createIdentifyOperator({ tokens: [ann, bob], findCaller: createFindCaller([]), clock: testClock(), log })

  it('needs the token of an operator on the public port', async () => {
    const { ask } = await startServer(createMetricsRouter(createMetrics(), identifyOperator()))
    const refused = await ask('/metrics')
    expect(refused.status).to.equal(401)
    expect(refused.headers.get('www-authenticate')).to.equal('Bearer')
    expect(refused.body).to.include({ type: 'HTTPException', status: 401 })
    const { status } = await ask('/metrics', { headers: { Authorization: 'Bearer token-of-bob' } })
    expect(status).to.equal(200)
  })

  it('takes the token for metrics alone, which opens nothing else, and counts wrong ones with those of operators', async () => {
    const identify = identifyOperator()
    const admin = new Router().get('/admin', ctx => {
      ctx.body = identify(ctx)
    })
    const { ask } = await startServer(createMetricsRouter(createMetrics(), identify, 'token-for-metrics'), admin)
    const withToken = (path: string, token: string) => ask(path, { headers: { Authorization: `Bearer ${token}` } })
    expect((await withToken('/metrics', 'token-for-metrics')).status).to.equal(200)
    expect((await withToken('/metrics', 'token-of-bob')).status).to.equal(200)
    expect((await withToken('/admin', 'token-for-metrics')).status).to.equal(401)
    for (let guesses = 1; guesses < 10; guesses += 1)
      expect((await withToken('/metrics', `guess-${guesses}`)).status).to.equal(401)
    for (const path of ['/metrics', '/admin']) expect((await withToken(path, 'token-of-bob')).status).to.equal(429)
    const { headers, body } = await withToken('/metrics', 'token-of-bob')
    expect([headers.get('content-type'), headers.get('retry-after')]).to.deep.equal(['application/problem+json', '60'])
    expect(body).to.include({ type: 'RateLimitExceededError', scope: 'operator_token', retry_after: 60 })
  })

  it('needs no token where no operators are given, and has the format of Prometheus', async () => {
    const metrics = createMetrics()
    metrics.brokerMessages.inc({ queue: 'otp.reports', outcome: 'done' })
    const { ask } = await startServer(createMetricsRouter(metrics))
    const { status, headers, body } = await ask('/metrics')
    expect(status).to.equal(200)
    expect(headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect(body).to.contain('countersign_broker_messages_total{queue="otp.reports",outcome="done"} 1')
  })
})

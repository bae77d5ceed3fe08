import { expect } from 'chai'
import { createEngineWait, explain } from '../../infra/engine-wait.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { testClock } from '../support/clock.ts'

describe('a process that waits for an engine', () => {
  function createWait() {
    const [clock, captured] = [testClock(), createCapturedLog()]
    const names = { engine: 'MongoDB', setting: 'MONGODB_URL', hosts: ['db.test:27017'] }
    return { clock, captured, wait: createEngineWait({ ...names, clock, log: captured.log }) }
  }

  it('says nothing of an engine that answers within a second', async () => {
    const { clock, captured, wait } = createWait()
    await clock.advance(999)
    wait.answered()
    await clock.advance(60_000)
    expect(captured.lines()).to.deep.equal([])
  })

  it('says after a second which engine is away and why, then every ten seconds, and that it has answered', async () => {
    const { clock, captured, wait } = createWait()
    wait.failed(new Error('connect ECONNREFUSED 10.0.0.7:27017'))
    await clock.advance(1_000)
    expect(captured.lines()).to.have.length(1)
    expect(captured.lines()[0]).to.deep.include({
      level: 'warn',
      msg: 'engine.awaited',
      engine: 'MongoDB',
      hosts: ['db.test:27017'],
      why: 'it refuses connections: it does not run there, or on another port',
      waited_ms: 1_000,
    })
    for (let failures = 0; failures < 100; failures += 1) {
      wait.failed(new Error('getaddrinfo ENOTFOUND db.test'))
      await clock.advance(200)
    }
    expect(captured.lines().map(({ why, waited_ms }) => [why, waited_ms])).to.deep.equal([
      ['it refuses connections: it does not run there, or on another port', 1_000],
      ['there is no such host', 11_000],
      ['there is no such host', 21_000],
    ])
    wait.answered()
    wait.answered()
    await clock.advance(60_000)
    expect(captured.lines().slice(3)).to.have.length(1)
    expect(captured.lines()[3]).to.include({ level: 'info', msg: 'engine.answered', engine: 'MongoDB' })
  })

  it('is silent once the process stops', async () => {
    const { clock, captured, wait } = createWait()
    wait.stop()
    await clock.advance(60_000)
    wait.answered()
    expect(captured.lines()).to.deep.equal([])
  })

  const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:5672')], '')
  const login = 'Handshake terminated by server: 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - Login was refused"'
  const reasons: [unknown, RegExp][] = [
    [refused, /^it refuses connections/],
    [new Error(login), /^it refuses the user or the password$/],
    [new Error('Authentication failed.'), /^it refuses the user or the password$/],
    [new Error("530 (NOT-ALLOWED): vhost 'x' not found"), /virtual host/],
    [new Error('no connection within 5000 ms'), /^it cannot be reached/],
    [
      new Error('broken at mongodb://ann:pa55@db.test/x\n at a stack'),
      /^broken at mongodb:\/\/\[hidden\]@db\.test\/x$/,
    ],
    ['gone', /^gone$/],
  ]
  it('says why in one line, without a password', () => {
    for (const [error, words] of reasons) expect(explain(error)).to.match(words)
  })
})

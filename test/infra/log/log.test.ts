import { expect } from 'chai'
import { createCapturedLog } from '../../support/captured-log.ts'

describe('the log', () => {
  it('writes one JSON line per outcome', () => {
    const { log, lines, output } = createCapturedLog()
    log.info({ otp_id: 'otp_1', channel: 'sms', ms: 12, status: 'sent', key_id: 'key_1' }, 'delivery.attempted')
    const [line] = lines()
    expect(output()).to.match(/^\{.*\}\n$/)
    const fields = { otp_id: 'otp_1', channel: 'sms', ms: 12, status: 'sent', key_id: 'key_1' }
    expect(line).to.deep.include({ level: 'info', ...fields, msg: 'delivery.attempted' })
    expect(line?.time).to.match(/^\d{4}-\d\d-\d\dT.*Z$/)
    expect(line).to.have.all.keys('level', 'time', 'pid', 'otp_id', 'channel', 'ms', 'status', 'key_id', 'msg')
  })

  it('adds the fields of a child to its lines and to those of its children', () => {
    const { log, lines } = createCapturedLog()
    log.child({ request_id: 'r1' }).child({ app_id: 'app_1' }).info({ ms: 1 }, 'http.answered')
    expect(lines()[0]).to.include({ request_id: 'r1', app_id: 'app_1', ms: 1 })
  })

  it('writes nothing below its level, and does not read the fields', () => {
    const silent = createCapturedLog({ level: 'silent' })
    silent.log.fatal({ ms: 1 }, 'end')
    expect(silent.output()).to.equal('')
    const { log, output } = createCapturedLog({ level: 'warn' })
    const costly = {
      get field() {
        throw new Error('looked')
      },
    }
    log.info(costly, 'unseen')
    log.child({ request_id: 'r1' }).debug(costly, 'unseen')
    expect(output()).to.equal('')
    expect([log.writes('info'), log.writes('error')]).to.deep.equal([false, true])
  })

  it('writes an error as type, message, stack, cause and the errors in it only', () => {
    const { log, lines } = createCapturedLog()
    const cause = Object.assign(new TypeError('inner'), { code: 'ECONNRESET', request: { big: true } })
    log.error({ err: new Error('outer', { cause }) }, 'http.failed')
    log.error({ err: new AggregateError([new Error('one'), new Error('two')], 'both') }, 'failed')
    expect(lines()[1]).to.have.nested.property('err.errors[1].message', 'two')
    const err = lines()[0]?.err as Record<string, Record<string, unknown>>
    expect(err).to.have.all.keys('type', 'message', 'stack', 'cause')
    expect(err).to.include({ type: 'Error', message: 'outer' })
    expect(err.stack).to.match(/^Error: outer\n +at /)
    expect(err.cause).to.include({ type: 'TypeError', message: 'inner', code: 'ECONNRESET' })
    expect(err.cause).to.have.all.keys('type', 'message', 'stack', 'code')
  })

  it('does not fail with cycles, great depth, throwing getters or big integers', () => {
    const { log, lines } = createCapturedLog()
    const cycle: Record<string, unknown> = { big: 2n ** 70n, run: () => 1 }
    cycle.self = cycle
    const deep = Array.from({ length: 50 }).reduce<object>(inner => ({ inner }), {})
    const trap = {
      get field() {
        throw new Error('trap')
      },
    }
    log.info({ cycle, deep }, 'first')
    log.info(trap, 'second')
    log.info(JSON.parse('{"__proto__": {"polluted": 1}, "kept": 1}'), 'third')
    expect(lines()[0]).to.deep.include({ msg: 'first', cycle: { big: '1180591620717411303424', self: '[circular]' } })
    expect(JSON.stringify(lines()[0])).to.contain('[too deep]')
    expect(lines()[1]).to.deep.include({ msg: 'second', unreadable: true })
    expect(lines()[2]).to.deep.include({ msg: 'third', kept: 1 })
  })

  it('writes readable text on a terminal', () => {
    const { log, output } = createCapturedLog({ pretty: true })
    log.info({ ms: 3, token: 'abc' }, 'http.answered')
    expect(output()).to.match(/^\[[\d:.]+\] INFO: http\.answered \{"ms":3,.*\}\n$/)
    expect(output()).not.to.contain('abc')
    expect(output()).not.to.contain('{"level"')
  })
})

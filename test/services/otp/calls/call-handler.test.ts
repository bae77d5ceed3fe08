// Which calls the OTP actor executes when more arrive than it can: those whose callers still wait, in the order they came.
import { expect } from 'chai'
import type { ReceivedCall } from '../../../../infra/broker/broker.ts'
import { createEngineWatch } from '../../../../infra/engine-watch.ts'
import { MAYBE_EXECUTED, Unavailable } from '../../../../infra/unavailable.ts'
import type { Identity, KeyedClaim, OtpCall, Refusal } from '../../../../machines/calls.ts'
import type { NewRefusal } from '../../../../services/domain/refusals/refusal-log.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { type CallDeps, createCallHandler, MAX_CALLS_IN_PROGRESS } from '../../../../services/otp/calls/call-handler.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { promiseState } from '../../../support/promise-state.ts'
import { testKeyring } from '../../../support/tenancy.ts'

describe('a refused call', () => {
  it('is recorded with the id of its request, also when its caller has given up', async () => {
    const recorded: NewRefusal[] = []
    const refusals = { record: (refusal: NewRefusal) => void recorded.push(refusal) }
    const apps = { get: () => Promise.reject(new Unavailable('away')) }
    const deps = {
      log: createCapturedLog().log,
      clock: testClock(),
      refusals,
      apps,
      isBusy: () => false,
    } as unknown as CallDeps
    const by = { app_id: 'app_a', company_id: 'cmp_a', key_id: 'key_a', kind: 'server', mode: 'live' } as const
    const handle = createCallHandler(deps)
    const trace = { request_id: 'order-17', traceparent: null }
    const body = { type: 'otp.send', by, claim: null } as unknown as OtpCall
    expect(await handle({ id: 'one', body, expired: () => false, trace })).to.include({ kind: 'refused' })
    expect(await handle({ id: 'two', body, expired: () => true, trace })).to.include({ kind: 'refused' })
    expect(recorded).to.have.length(2)
    for (const one of recorded)
      expect(one).to.deep.include({ by, call: 'send', request_id: 'order-17', type: 'ServiceUnavailableError' })
  })
})

describe('a call while the store is away', () => {
  const by = { app_id: 'app_a', company_id: 'cmp_a', key_id: 'key_a', kind: 'server', mode: 'live' } as const
  const body = { type: 'otp.send', by, claim: null } as unknown as OtpCall
  const received: ReceivedCall = { id: 'one', body, expired: () => false }

  /** A handler whose store leaves everything unanswered, and a call that has found that out. */
  async function startHandler() {
    const clock = testClock()
    const [recorded, captured] = [[] as NewRefusal[], createCapturedLog()]
    let asked = 0
    const silent = (): Promise<never> => watch.observe(new Promise(() => {}))
    const watch = createEngineWatch({ engine: 'MongoDB', clock, probe: silent })
    const deps = {
      log: captured.log,
      clock,
      storeWatch: watch,
      refusals: { record: (refusal: NewRefusal) => void recorded.push(refusal) },
      apps: {
        get() {
          asked += 1
          return silent()
        },
      },
      isBusy: () => false,
    } as unknown as CallDeps
    const handle = createCallHandler(deps)
    const first = promiseState(handle(received))
    while (!watch.away()) await clock.advance(100)
    return { handle, first, recorded, lines: captured.lines, asked: () => asked }
  }

  it('is given up once that is known, though it may be executed; the next one is refused before the store is asked, with a record and a line of its own', async () => {
    const { first } = await startHandler()
    const { kind, error, detail } = first.value as Refusal
    expect({ kind, error, detail }).to.deep.equal({
      kind: 'refused',
      error: 'ServiceUnavailableError',
      detail: MAYBE_EXECUTED,
    })
    const { handle, recorded, lines, asked } = await startHandler()
    const before = { asked: asked(), recorded: recorded.length, lines: lines().length }
    for (let calls = 0; calls < 10; calls += 1)
      expect(await handle(received)).to.include({ error: 'ServiceUnavailableError', executed: false })
    expect(asked()).to.equal(before.asked)
    expect(recorded).to.have.length(before.recorded + 10)
    for (const line of lines().slice(before.lines))
      expect(line).to.include({ msg: 'call.answered', outcome: 'ServiceUnavailableError', app_id: 'app_a' })
    expect(lines()).to.have.length(before.lines + 10)
  })
})

describe('calls that wait for their turn', () => {
  const REUSING_APP = 'app_reusing'
  const keyring = testKeyring()

  /** A handler whose calls wait for their app, the first thing that a device's call loads, until `open` is called. */
  function startHandler({ isBusy = false } = {}) {
    const begun: string[] = []
    let open = (): void => {}
    const opened = new Promise<void>(resolve => {
      open = resolve
    })
    const deps = {
      log: createCapturedLog().log,
      clock: testClock(),
      keyring,
      isBusy: () => isBusy,
      refusals: { record: () => {} },
      apps: {
        async get(app_id: string) {
          begun.push(app_id)
          // The first reads are those before their turns.
          if (app_id === REUSING_APP && begun.length <= 2 * MAX_CALLS_IN_PROGRESS)
            return { settings: { reuse_pending: true } }
          await opened
          return null
        },
      },
    } as unknown as CallDeps
    const handle = createCallHandler(deps)
    const receive = (
      name: string,
      { claim = null, expired = () => false, kind = 'publishable' }: Partial<Received> = {},
    ) => {
      const by = { app_id: name, company_id: 'cmp_a', key_id: 'key_a', kind, mode: 'test' }
      const sealed_recipient = keyring.seal('+4915123456789', inFlight.recipient)
      const body = { type: 'otp.send', by, claim, sealed_recipient } as OtpCall
      const received: ReceivedCall = { id: name, body, expired }
      return handle(received)
    }
    return { begun, open, receive }
  }
  interface Received {
    claim: KeyedClaim | null
    expired(): boolean
    kind: Identity['kind']
  }
  const settled = () => new Promise<void>(resolve => setImmediate(resolve))
  const fill = (receive: (name: string) => Promise<unknown>) =>
    Array.from({ length: MAX_CALLS_IN_PROGRESS }, (_, n) => receive(`app_${n}`))

  it('are executed when others end', async () => {
    const { begun, open, receive } = startHandler()
    const first = fill(receive)
    const late = receive('app_late')
    await settled()
    expect(begun).to.have.length(MAX_CALLS_IN_PROGRESS)
    open()
    await Promise.all([...first, late])
    expect(begun.at(-1)).to.equal('app_late')
  })

  it('are not executed when their callers have given up meanwhile', async () => {
    const { begun, open, receive } = startHandler()
    const first = fill(receive)
    let over = false
    const late = receive('app_late', { expired: () => over })
    await settled()
    over = true
    open()
    await Promise.all(first)
    expect(await late).to.deep.include({ kind: 'refused', error: 'ServiceUnavailableError' })
    expect(begun).not.to.include('app_late')
  })

  it('are executed together when those before them end, in a process that is short of processor time', async () => {
    const { begun, open, receive } = startHandler({ isBusy: true })
    const first = ['app_a', 'app_b'].map(name => receive(name))
    await settled()
    await settled()
    const late = ['app_c', 'app_d'].map(name => receive(name))
    await settled()
    expect(begun).to.deep.equal(['app_a', 'app_b'])
    open()
    await Promise.all([...first, ...late])
    expect(begun.slice(2)).to.deep.equal(['app_c', 'app_d'])
  })

  it('do not wait for those that wait for an idempotency key', async () => {
    const { begun, open, receive } = startHandler()
    const claim = { ids: ['same'], sealed_key: 'sealed' }
    const claimed = Array.from({ length: 2 * MAX_CALLS_IN_PROGRESS }, () => receive('app_claimed', { claim }))
    const other = receive('app_other')
    await settled()
    expect(begun).to.deep.equal(['app_claimed', 'app_other'])
    open()
    await Promise.all([...claimed, other])
  })

  it('wait for their recipient before they take a turn, if the app resends what is pending', async () => {
    const { begun, open, receive } = startHandler()
    const sends = Array.from({ length: 2 * MAX_CALLS_IN_PROGRESS }, () => receive(REUSING_APP, { kind: 'server' }))
    const other = receive('app_other')
    await settled()
    const readByOneInItsTurn = 1
    expect(begun.filter(app_id => app_id === REUSING_APP)).to.have.length(sends.length + readByOneInItsTurn)
    expect(begun).to.include('app_other')
    open()
    await Promise.all([...sends, other])
  })
})

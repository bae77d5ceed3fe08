import { expect } from 'chai'
import { createMetrics } from '../../../../infra/metrics.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { atRest } from '../../../../services/domain/verifications/encryption-context.ts'
import { recipientIndexes } from '../../../../services/domain/verifications/lookup-indexes.ts'
import type { CachedApp } from '../../../../services/otp/apps.ts'
import { createFraudCounts } from '../../../../services/otp/fraud/counts.ts'
import { createFraudGuard, type FraudGuard, NO_CHALLENGE } from '../../../../services/otp/fraud/guard.ts'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import type { Reputation } from '../../../../services/otp/limits/reputation.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { device, issued, play, right } from '../../../support/otp.ts'
import { documentOf } from '../../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const VPN = '185.220.101.9'
const HOME = '81.2.69.142'

onEmbeddedStore('whether the fraud guard asks a device for a challenge', fresh => {
  const keyring = testKeyring()
  const by = { company_id: 'cmp_1', app_id: 'app_1', mode: 'live', key_id: 'key_device', kind: 'publishable' } as const
  const settings = resolveSettings({ publishable_send: true })
  const app = { settings } as CachedApp
  let store: CountersignStore
  let clock = testClock()
  let guard: FraudGuard
  let sends = 0
  /** How often a tally was read. */
  let reads = 0
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
    const { log } = createCapturedLog()
    const counts = createFraudCounts({ store, clock, log })
    reads = 0
    const state: typeof counts.tallies.state = key => {
      reads += 1
      return counts.tallies.state(key)
    }
    guard = createFraudGuard({
      keyring,
      clock,
      log,
      limits: createLimits({ counters: store.docs('counters'), clock }),
      apps: { get: async () => app },
      reputation: async (address: string): Promise<Reputation> => (address === VPN ? 'suspect' : 'unknown'),
      counts: { ...counts, tallies: { ...counts.tallies, state } },
      decisions: { record: () => {} },
      metrics: createMetrics(),
    })
  })

  const reputationOf = (address: string): Reputation => (address === VPN ? 'suspect' : 'unknown')
  const need = (recipient: string, address: string | null = HOME) =>
    guard.challengeNeed({
      by,
      app,
      recipient,
      address: address === null ? null : { value: address, reputation: reputationOf(address) },
    })
  function send(number: string, address: string, isEmail = false): OtpDoc {
    sends += 1
    const otp_id = `otp_${sends}`
    const index = recipientIndexes(keyring, by, number)[0] ?? ''
    const sealed = keyring.seal(number, atRest.recipient(otp_id))
    const doc = documentOf(
      issued({
        otp_id,
        started_by: device,
        at: clock.now(),
        client_ip: keyring.seal(address, atRest.clientIp(otp_id)),
        recipient: { kind: isEmail ? 'email' : 'phone', sealed, index, masked: '*', country: isEmail ? null : 'GB' },
        ...(isEmail ? { order: ['email'] } : {}),
      }),
      0,
    )
    guard.onChange(null, doc)
    return doc
  }
  const approve = (doc: OtpDoc): void => guard.onChange(doc, { ...doc, ...play(doc, right({ by: device })).saved })
  const inRange = (nth: number): string => `+44740055${String(1_000 + nth * 307)}`

  it('is when half of the allowance of a mail domain is used, and not of a large provider', async () => {
    const at = (nth: number, domain: string): string => `user${nth}@${domain}`
    for (let nth = 0; nth < 16; nth += 1) send(at(nth, 'catch-all.example'), HOME, true)
    await eventually(async () => expect((await need('ada@sub.catch-all.example')).asked).to.equal(true))
    expect((await need('ada@example.com')).asked, 'another domain').to.equal(false)
    for (let nth = 0; nth < 16; nth += 1) send(at(nth, 'gmail.com'), HOME, true)
    expect((await need('ada@gmail.com')).asked, 'a large provider').to.equal(false)
    const stored = await store.docs('fraud_tallies').find({ app_id: 'app_1' }, { sort: { _id: 1 }, limit: 9 })
    expect(JSON.stringify(stored)).to.not.include('catch-all')
  })

  it('lets a number pass that has had its messages or backs off, if the hardest was solved', async () => {
    const last = Array.from({ length: 10 }, () => send(inRange(1), HOME)).at(-1) as OtpDoc
    const scopeOf = async (solvedHardest: boolean) => {
      const challenge = { ...NO_CHALLENGE, solvedHardest }
      const input = { command_id: 'c', otp: last.context, recipient: inRange(1), app, free: null, challenge }
      return (await guard.check(input)).refusal?.scope
    }
    await eventually(async () => expect(await scopeOf(false)).to.equal('fraud_guard'))
    expect(await scopeOf(true)).to.equal(undefined)
  })

  it('is told by the evidence that the message is judged by, which is read once', async () => {
    const { context: otp } = send(inRange(1), HOME)
    const { evidence } = await need(inRange(1))
    const readBefore = reads
    const input = { command_id: 'c', otp, recipient: inRange(1), app, free: null }
    await guard.check({ ...input, challenge: { solvedHardest: false, evidence } })
    expect(reads).to.equal(readBefore)
    await guard.check({ ...input, challenge: NO_CHALLENGE })
    const readWithout = reads
    expect(readWithout).to.be.above(readBefore)
    const started_by = { key_id: 'key_server', kind: 'server' } as const
    await guard.check({ ...input, otp: { ...otp, started_by }, challenge: { solvedHardest: false, evidence } })
    expect(reads, 'what a server has started').to.be.above(readWithout)
  })

  it('is for a suspect address whose network has three unverified sends, whatever the recipient', async () => {
    const docs = [send(inRange(1), VPN), send('+447911123456', VPN)]
    send('ada@example.com', VPN, true)
    await eventually(async () => expect((await need('eve@example.com', VPN)).asked).to.equal(true))
    expect((await need('+447911123457', '185.220.101.77')).asked, 'not on the list').to.equal(false)
    expect((await need('+447911123457', HOME)).asked).to.equal(false)
    approve(docs[0] as OtpDoc)
    await eventually(async () => expect((await need('+447911123457', VPN)).asked).to.equal(false))
    expect(JSON.stringify(await store.docs('fraud_networks').find({}, { sort: { _id: 1 }, limit: 9 }))).to.not.include(
      '185',
    )
  })
})

// What a send and a resend count, and that an IPv6 address is counted for its networks.
import { expect } from 'chai'
import fc from 'fast-check'
import { windowName } from '../../../../machines/windows.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import { type ResendQuotaInput, resendQuotas, sendQuotas } from '../../../../services/otp/limits/quota-counters.ts'
import { reserve } from '../../../../services/otp/reservation.ts'
import { testClock } from '../../../support/clock.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { eachStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const keyring = testKeyring()
const { limits } = resolveSettings({})

const resend = (more: Partial<ResendQuotaInput> = {}): ResendQuotaInput => ({
  app_id: 'app_a',
  mode: 'live',
  kind: 'server',
  limits,
  address: null,
  ...more,
})
const known = (value: string) => ({ value, reputation: 'unknown' }) as const
const suspect = (value: string) => ({ value, reputation: 'suspect' }) as const

describe('the quotas', () => {
  const described = (input: ResendQuotaInput) =>
    sendQuotas(keyring, { ...input, mailboxIndexes: ['ada'], sendsMessage: true }).map(
      ({ scope, rules }) => `${scope} ${rules.map(({ max }) => max).join()}`,
    )

  it('of a send with an IPv4 address are four, and a publishable key has its own one for the app', () => {
    const server = ['recipient 5,20', 'client_ip 20,100,1500', 'app 6000', 'recipient 50']
    expect(described(resend({ address: known('8.8.8.8') }))).to.deep.equal(server)
    expect(described(resend({ address: known('8.8.8.8'), kind: 'publishable' }))).to.deep.equal([
      'recipient 5,20',
      'client_ip 20,100,15,5000',
      'app 60,20000',
      'recipient 50',
    ])
    expect(described(resend({ kind: 'publishable' }))).to.deep.equal([
      'recipient 5,20',
      'app_without_client_ip 60',
      'app 60,20000',
      'recipient 50',
    ])
  })

  it('of a recipient are in one counter for each kind of key that starts a verification, and their windows are not', () => {
    const ofRecipient = (kind: 'server' | 'publishable') =>
      sendQuotas(keyring, { ...resend({ kind }), mailboxIndexes: ['ada', 'former'], sendsMessage: true }).filter(
        ({ scope }) => scope === 'recipient',
      )
    for (const kind of ['server', 'publishable'] as const) {
      const [sends, messages] = ofRecipient(kind)
      expect(sends).to.include({ key: `app_a:live:sends:${kind}:ada` })
      expect([messages?.key, messages?.formerKeys]).to.deep.equal([sends?.key, sends?.formerKeys])
      const [ofSends = [], ofMessages = []] = [sends, messages].map(one => one?.rules.map(windowName))
      expect(ofMessages).to.deep.equal(['messages_s86400'])
      expect(ofSends).to.deep.equal(['s600', 's86400'])
    }
  })

  it('of an IPv6 address are those of its networks, and a suspect address has a share of each', () => {
    expect(described(resend({ address: known('2a01:4f8::1') })).slice(1, 5)).to.deep.equal([
      'client_ip 20,100,1500',
      'client_ip 80,400',
      'client_ip 320,1600',
      'client_ip 1280,6400',
    ])
    expect(described(resend({ address: suspect('2a01:4f8::1') })).slice(1, 5)).to.deep.equal([
      'client_ip_reputation 4,20,1500',
      'client_ip_reputation 16,80',
      'client_ip_reputation 64,320',
      'client_ip_reputation 256,1280',
    ])
  })

  it('of one address share their counters, whatever its reputation and whatever is sent', () => {
    const keys = (input: ResendQuotaInput) => resendQuotas(keyring, input).map(({ key }) => key)
    expect(keys(resend({ address: suspect('2a01:4f8::1') }))).to.deep.equal(
      keys(resend({ address: known('2a01:4f8:0:0:ffff::1') })),
    )
    expect(keys(resend({ address: known('::ffff:8.8.8.8') }))).to.deep.equal(
      keys(resend({ address: known('8.8.8.8') })),
    )
    const sends = sendQuotas(keyring, {
      ...resend({ address: known('8.8.8.8'), kind: 'publishable' }),
      mailboxIndexes: null,
      sendsMessage: true,
    })
    expect(sends.map(({ key }) => key)).to.deep.equal(keys(resend({ address: known('8.8.8.8'), kind: 'publishable' })))
  })
})

eachStore('the quotas of IPv6 networks', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })

  const anyAddress = fc
    .record({ site: fc.nat(1), subnet: fc.nat(3), network: fc.nat(3), host: fc.nat(3) })
    .map(({ site, subnet, network, host }) => ({
      value: `2a01:4f8:${site}:${subnet * 256 + network}::${host + 1}`,
      networks: [`${site}.${subnet}.${network}`, `${site}.${subnet}`, `${site}`, 'the /40'],
    }))

  it('grant a send exactly when each of its networks has one left, and count a refused one nowhere', async () => {
    let apps = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyAddress, { minLength: 20, maxLength: 50 }), fc.integer({ min: 1, max: 2 }), run),
      { numRuns: propertyRuns(12) },
    )

    async function run(sends: { value: string; networks: string[] }[], max: number): Promise<void> {
      apps += 1
      const app_id = `app_${apps}`
      const processes = [1, 2].map(() => createLimits({ counters: store.docs('counters'), clock: testClock() }))
      const counts = new Map<string, number>()
      for (const [nth, { value, networks }] of sends.entries()) {
        const input = resend({
          app_id,
          address: known(value),
          limits: { ...limits, client_ip: [{ max, seconds: 600 }] },
        })
        const expected = networks.every((network, at) => (counts.get(network) ?? 0) < max * 4 ** at)
        const counted = processes[nth % 2] as ReturnType<typeof createLimits>
        const { refusal } = await reserve(counted, resendQuotas(keyring, input))
        expect(refusal?.scope ?? 'granted', value).to.equal(expected ? 'granted' : 'client_ip')
        if (expected) for (const network of networks) counts.set(network, (counts.get(network) ?? 0) + 1)
      }
    }
  })
})

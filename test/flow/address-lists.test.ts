import { expect } from 'chai'
import { manyRanges } from '../support/address-lists.ts'
import { createCaller } from '../support/api-caller.ts'
import { type Countersign, startCountersign } from '../support/countersign.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { onEachEngineSet } from '../support/site.ts'

const KEY = 'sk_test_lists0123456789'
/** A suspect address may send once; other addresses are practically unlimited. */
const limits = {
  client_ip: [{ max: 100_000, seconds: 600 }],
  client_ip_reputation_factor: 0.00001,
  app_without_client_ip: [{ max: 100_000, seconds: 60 }],
}
const BOOTSTRAP = {
  companies: [{ id: 'cmp_l', apps: [{ id: 'app_l', settings: { limits }, keys: [{ id: 'key_l', key: KEY }] }] }],
  ip_lists: [{ class: 'abusive', cidr: '45.95.147.0/24' }],
}
const DASHBOARD_ROLES = ['dashboard', 'sweeper']
const API_ROLES = ['edge', 'otp', 'channel:sms', 'channel:email', 'channel:whatsapp', 'channel:telegram']
const REFUSED = 'IpReputationBlockedError'

onEachEngineSet('address lists', engines => {
  let flow: Flow
  let api: Countersign
  /** On the real engines, operators and clients call different processes. */
  before(async () => {
    flow = await startFlow({ engines, bootstrap: BOOTSTRAP, roles: engines === 'real' ? DASHBOARD_ROLES : [] })
    const { site } = flow.countersign
    const env = { CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200' }
    api =
      engines === 'real'
        ? await startCountersign({ engines, site, env, roles: API_ROLES, clock: flow.clock })
        : flow.countersign
  })
  after(async () => {
    if (engines === 'real') await api?.stop()
    await flow?.stop()
  })

  async function put(...lists: object[]): Promise<void> {
    const { status, text } = await flow.admin('PUT', '/ip-lists', { lists })
    expect(status, text).to.equal(200)
  }
  async function send(client_ip: string): Promise<string> {
    const { status, body } = await createCaller(api.url, KEY).send(freshNumber(), { client_ip })
    return status === 200 ? 'sent' : (body.scope ?? body.type)
  }
  /** A clock that stands still goes on by a second before each retry: processes read the lists every few seconds. */
  const eventually = <T>(assertion: () => Promise<T>): Promise<T> =>
    flow.eventually(async () => {
      if (engines === 'embedded') await flow.advance(1_000)
      return assertion()
    })
  const waitForImport = (wanted: string) =>
    eventually(async () => {
      const { items } = (await flow.admin('GET', '/ip-lists')).body
      const shown = items.find(({ name }: { name: string }) => name === wanted)
      expect(shown).to.deep.include({ status: 'ready', progress: null })
      return shown
    })
  const waitFor = (client_ip: string, outcome: string) =>
    eventually(async () => expect(await send(client_ip)).to.equal(outcome))

  it('refuse sends from listed ranges in every process within seconds, and follow each replacement', async () => {
    expect(await send('45.95.147.7'), 'a range of the bootstrap file').to.equal(REFUSED)
    expect(await send('91.240.118.5')).to.equal('sent')
    const text = ['91.240.118.0/24', '10.0.0.0/8', ...manyRanges(40_000)].join('\n')
    await put({ class: 'abusive', name: 'mine', text })
    expect(await waitForImport('mine')).to.deep.include({ ranges: 40_001, ignored: 1, bad: 0 })
    await waitFor('91.240.118.5', REFUSED)
    expect(await send('::ffff:91.240.118.6'), 'IPv4-mapped').to.equal(REFUSED)
    expect(await send('11.0.0.0')).to.equal(REFUSED)
    for (const free of ['91.240.119.1', '10.0.0.1', '11.0.0.1']) expect(await send(free), free).to.equal('sent')
    expect(await send('45.95.147.7'), 'other lists stay').to.equal(REFUSED)

    await put({ class: 'abusive', name: 'mine', cidrs: ['2a01:4f8:c0c::/48'] })
    await waitFor('91.240.118.5', 'sent')
    expect(await send('2a01:4f8:c0c:1::9')).to.equal(REFUSED)
    await put()
    await waitFor('2a01:4f8:c0c:1::9', 'sent')
    expect(await send('45.95.147.7')).to.equal(REFUSED)
  })

  it('of the class "datacenter" limit an address instead of refusing it', async () => {
    await put({ class: 'datacenter', name: 'cloud', cidrs: ['3.0.0.0/9'] })
    await waitForImport('cloud')
    await eventually(async () => {
      const address = `3.2.${Math.ceil(Math.random() * 200)}.${Math.ceil(Math.random() * 200)}`
      expect([await send(address), await send(address)]).to.deep.equal(['sent', 'client_ip_reputation'])
    })
  })
})

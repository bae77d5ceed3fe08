import { expect } from 'chai'
import { manyRanges } from '../support/address-lists.ts'
import { type Answer, ask, createCaller } from '../support/api-caller.ts'
import { type Countersign, describeCountersign, type StartCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber } from '../support/flow.ts'
import { useOutbound } from '../support/outbound.ts'

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
const ENV = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }

// biome-ignore lint/suspicious/noExplicitAny: an answer as the API returned it
type Json = any

/** On the real engines, operators and clients call different processes. */
async function startDashboardAndApi(start: StartCountersign, isReal: boolean) {
  const dashboard = await start({ bootstrap: BOOTSTRAP, env: ENV, ...(isReal ? { roles: DASHBOARD_ROLES } : {}) })
  const api = isReal ? await start({ site: dashboard.site, env: ENV, roles: API_ROLES }) : dashboard
  return createClient(dashboard, api)
}

const DASHBOARD_ROLES = ['dashboard', 'sweeper']
const API_ROLES = ['edge', 'otp', 'channel:sms', 'channel:email', 'channel:whatsapp', 'channel:telegram']

function createClient(dashboard: Countersign, api: Countersign) {
  const token = dashboard.secrets.adminTokens[0]?.token ?? ''
  const server = createCaller(api.url, KEY)
  const list = async (name: string): Promise<Json> => {
    const { body } = await ask(`${dashboard.url}/admin/v1/ip-lists`, { token })
    return body.items.find((one: Json) => one.name === name)
  }
  return {
    list,
    put: async (...lists: object[]): Promise<Answer> => {
      const answer = await ask(`${dashboard.url}/admin/v1/ip-lists`, {
        method: 'PUT',
        token,
        body: JSON.stringify({ lists }),
      })
      expect(answer.status, answer.text).to.equal(200)
      return answer
    },
    send: async (client_ip: string): Promise<string> => {
      const { status, body } = await server.send(freshNumber(), { client_ip })
      return status === 200 ? 'sent' : (body.scope ?? body.type)
    },
    waitForImport: (name: string) =>
      eventually(async () => {
        const shown = await list(name)
        expect(shown).to.deep.include({ status: 'ready', progress: null })
        return shown
      }),
  }
}

const REFUSED = 'IpReputationBlockedError'

describeCountersign('address lists', (start, engines) => {
  const { receiver } = useOutbound()
  const open = () => startDashboardAndApi(start, engines === 'real')

  it('refuse sends from listed ranges in every process within seconds, and follow each replacement', async () => {
    const { put, send, waitForImport } = await open()
    expect(await send('45.95.147.7'), 'a range of the bootstrap file').to.equal(REFUSED)
    expect(await send('91.240.118.5')).to.equal('sent')
    await put({
      class: 'abusive',
      name: 'mine',
      text: ['91.240.118.0/24', '10.0.0.0/8', ...manyRanges(40_000)].join('\n'),
    })
    expect(await waitForImport('mine')).to.deep.include({ ranges: 40_001, ignored: 1, bad: 0 })
    await eventually(async () => expect(await send('91.240.118.5')).to.equal(REFUSED))
    expect(await send('::ffff:91.240.118.6'), 'IPv4-mapped').to.equal(REFUSED)
    expect(await send('11.0.0.0')).to.equal(REFUSED)
    for (const free of ['91.240.119.1', '10.0.0.1', '11.0.0.1']) expect(await send(free), free).to.equal('sent')
    expect(await send('45.95.147.7'), 'other lists stay').to.equal(REFUSED)

    await put({ class: 'abusive', name: 'mine', cidrs: ['2a01:4f8:c0c::/48'] })
    await eventually(async () => expect(await send('91.240.118.5')).to.equal('sent'))
    expect(await send('2a01:4f8:c0c:1::9')).to.equal(REFUSED)
    await put()
    await eventually(async () => expect(await send('2a01:4f8:c0c:1::9')).to.equal('sent'))
    expect(await send('45.95.147.7')).to.equal(REFUSED)
  })

  it('of the class "datacenter" limit an address instead of refusing it', async () => {
    const { put, send, waitForImport } = await open()
    await put({ class: 'datacenter', name: 'cloud', cidrs: ['3.0.0.0/9'] })
    await waitForImport('cloud')
    await eventually(async () => {
      const address = `3.2.${Math.ceil(Math.random() * 200)}.${Math.ceil(Math.random() * 200)}`
      expect([await send(address), await send(address)]).to.deep.equal(['sent', 'client_ip_reputation'])
    })
  })

  it('are imported from a URL, and keep their last good content while the URL fails', async () => {
    const { put, send, waitForImport, list } = await open()
    let answer = { status: 200, text: '# ours\r\n91.240.118.0/24 ; listed\r\n' }
    const source = await receiver((_, response) => void response.writeHead(answer.status).end(answer.text))
    const url = `http://127.0.0.1:${source.port}/list.txt?key=secret`
    await put({ class: 'abusive', name: 'theirs', url, refresh_seconds: 3_600 })
    const { version } = await waitForImport('theirs')
    await eventually(async () => expect(await send('91.240.118.5')).to.equal(REFUSED))

    answer = { status: 503, text: 'sorry' }
    await put({ class: 'abusive', name: 'theirs', url, refresh_seconds: 3_600 })
    await eventually(async () => {
      expect(await list('theirs')).to.deep.include({ status: 'failed', problem: 'its source answered 503', version })
    })
    expect(await send('91.240.118.5')).to.equal(REFUSED)

    answer = { status: 200, text: '9.9.9.9' }
    await put({ class: 'abusive', name: 'theirs', url, refresh_seconds: 3_600 })
    await eventually(async () => expect(await send('91.240.118.5')).to.equal('sent'))
    expect(await send('9.9.9.9')).to.equal(REFUSED)
  })
})

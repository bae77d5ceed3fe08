// A proxy that is missing in TRUSTED_PROXIES is reported in the log.
import { expect } from 'chai'
import type { Context } from 'koa'
import { createFindCaller } from '../../../infra/http/caller-address.ts'
import { createIgnoredProxyReporter } from '../../../infra/http/ignored-proxy-reporter.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'

const HOUR_MS = 3_600_000

function createReporter(...trusted: string[]) {
  const [clock, captured] = [testClock(), createCapturedLog()]
  const report = createIgnoredProxyReporter({ findCaller: createFindCaller(trusted), clock, log: captured.log })
  return {
    clock,
    captured,
    /** A request from this peer with this header. */
    request(remoteAddress: string | undefined, forwardedFor: string): void {
      const ctx = { get: () => forwardedFor, req: { socket: { remoteAddress } }, state: { requestId: 'abc' } }
      void report(ctx as unknown as Context, async () => {})
    },
    proxies: () => captured.lines().map(({ proxy }) => proxy),
  }
}

describe('a proxy that is not trusted', () => {
  it('is a warning that says what to do, if it forwards an address', () => {
    const { request, captured } = createReporter()
    request('10.1.2.3', '8.8.8.8')
    expect(captured.lines()).to.have.length(1)
    expect(captured.lines()[0]).to.include({ level: 'warn', proxy: '10.1.2.3', msg: 'proxy.not_trusted' })
    expect(captured.lines()[0]?.why).to.contain('TRUSTED_PROXIES')
    expect(captured.output(), 'the client behind it is not named').not.to.contain('8.8.8.8')
  })

  it('is reported once an hour for each address', async () => {
    const { request, proxies, clock } = createReporter()
    for (let requests = 0; requests < 50; requests += 1) request('10.1.2.3', '8.8.8.8')
    request('127.0.0.1', '8.8.8.8')
    request('fd00::1', '8.8.8.8')
    expect(proxies()).to.deep.equal(['10.1.2.3', '127.0.0.1', 'fd00::1'])
    await clock.advance(HOUR_MS - 1)
    request('10.1.2.3', '8.8.8.8')
    expect(proxies()).to.have.length(3)
    await clock.advance(1)
    request('10.1.2.3', '8.8.8.8')
    expect(proxies()).to.have.length(4)
  })

  it('is not reported without the header, nor if it is trusted', () => {
    const { request, proxies } = createReporter('10.0.0.0/8')
    request('192.168.1.1', '')
    request('192.168.1.1', ' ')
    request('10.1.2.3', '8.8.8.8')
    request('10.1.2.3', '1.1.1.1, 8.8.8.8')
    request('10.1.2.3', '192.168.1.9')
    request(undefined, '8.8.8.8')
    expect(proxies()).to.deep.equal([])
    request('10.1.2.3', '8.8.8.8, 192.168.1.9')
    expect(proxies(), 'behind a trusted one').to.deep.equal(['192.168.1.9'])
  })

  it('is shown as a network, if it is public: it may be a client that sent the header', () => {
    const { request, captured, proxies } = createReporter()
    request('203.0.114.77', '1.1.1.1')
    request('203.0.114.78', '1.1.1.1')
    request('2a00:1450:4001:81b::77', '1.1.1.1')
    expect(proxies()).to.deep.equal(['203.0.114.0/24', '2a00:1450:4001::/48'])
    expect(captured.output()).not.to.match(/203\.0\.114\.7|81b/)
  })

  it('makes few lines, however many addresses there are, and strangers do not hide a private one', async () => {
    const { request, proxies, clock } = createReporter()
    for (let at = 0; at < 5_000; at += 1) request(`20.${at >> 8}.${at & 255}.1`, '1.1.1.1')
    expect(proxies()).to.have.length(3)
    for (let at = 0; at < 5_000; at += 1) request(`10.${at >> 8}.${at & 255}.1`, '1.1.1.1')
    expect(proxies()).to.have.length(23)
    await clock.advance(HOUR_MS)
    request('10.200.0.1', '1.1.1.1')
    expect(proxies().at(-1)).to.equal('10.200.0.1')
  })
})

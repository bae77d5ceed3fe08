// The address of the end user behind proxies: only hops that trusted proxies wrote count.
import { expect } from 'chai'
import { type CallerRequest, clientAddressOf, createFindCaller } from '../../../infra/http/caller-address.ts'

const PROXIES = ['10.0.0.0/8', '198.41.128.0/17', '2a06:98c0::/29', '127.0.0.1/32']

/** The case, trusted ranges, peer, X-Forwarded-For, and the expected address. */
const ROWS: [string, readonly string[], string | undefined, string, string | null][] = [
  ['the peer if no proxy is trusted', [], '8.8.8.8', '', '8.8.8.8'],
  ['the peer, not what an untrusted peer forwards', [], '8.8.8.8', '1.1.1.1', '8.8.8.8'],
  ['the peer if it is not trusted', PROXIES, '8.8.8.8', '1.1.1.1, 10.0.0.2', '8.8.8.8'],
  ['the hop that a trusted proxy wrote', PROXIES, '10.0.0.1', '8.8.8.8', '8.8.8.8'],
  ['the last hop that is not trusted', PROXIES, '10.0.0.1', '1.1.1.1, 8.8.8.8', '8.8.8.8'],
  ['the hop before several trusted ones', PROXIES, '10.0.0.1', '9.9.9.9, 8.8.8.8, 198.41.200.1,10.9.9.9', '8.8.8.8'],
  ['IPv6 for an IPv6 client', PROXIES, '10.0.0.1', '2a00:1450::7', '2a00:1450::7'],
  ['the hop before an IPv6 proxy', PROXIES, '2a06:98c0::1', '8.8.8.8', '8.8.8.8'],
  ['the hop before a proxy with an IPv4-mapped address', PROXIES, '::ffff:10.0.0.1', '::ffff:8.8.8.8', '8.8.8.8'],
  ['without the port that a proxy added', PROXIES, '10.0.0.1', '8.8.8.8:4711', '8.8.8.8'],
  ['without the brackets and the port', PROXIES, '10.0.0.1', '[2a00:1450::7]:4711', '2a00:1450::7'],
  ['read despite odd spaces', PROXIES, '10.0.0.1', ' 1.1.1.1 ,  8.8.8.8  ', '8.8.8.8'],
  ['null if the proxy adds no header', PROXIES, '10.0.0.1', '', null],
  ['null if the hop is no address', PROXIES, '10.0.0.1', 'unknown', null],
  ['null if the last hop is no address, not an earlier hop', PROXIES, '10.0.0.1', '8.8.8.8, _hidden', null],
  ['null after an empty hop', PROXIES, '10.0.0.1', '8.8.8.8,', null],
  ['null if every hop is trusted and private', PROXIES, '10.0.0.1', '10.0.0.3, 10.0.0.2', null],
  ['null for a private client', PROXIES, '10.0.0.1', '192.168.1.5', null],
  ['null for a client on this machine', [], '127.0.0.1', '', null],
  ['null for a link-local peer with a zone', [], 'fe80::1%eth0', '', null],
  ['null if the connection is closed', [], undefined, '8.8.8.8', null],
  ['null for `0x08.8.8.8`, which is no address', PROXIES, '10.0.0.1', '0x08.8.8.8', null],
]

const request = (remoteAddress: string | undefined, forwardedFor: string): CallerRequest => ({
  get: header => (header === 'x-forwarded-for' ? forwardedFor : ''),
  req: { socket: { remoteAddress } },
})

describe("the client's address", () => {
  it('is the one that proxies of ours name', () => {
    for (const [what, trusted, peer, forwarded, expected] of ROWS)
      expect(clientAddressOf(createFindCaller(trusted)(request(peer, forwarded))), what).to.equal(expected)
  })
})

describe('the address of a caller', () => {
  const findCaller = createFindCaller(PROXIES)
  const find = (peer: string | undefined, forwardedFor: string) => findCaller(request(peer, forwardedFor))

  it('is given whether it is public or private, in canonical form', () => {
    expect(find('::ffff:192.168.1.5', '').address).to.equal('192.168.1.5')
    expect(find('10.0.0.1', 'FD00:0:0::5').address).to.equal('fd00::5')
    expect(find('fe80::1%eth0', '').address).to.equal('fe80::1')
  })

  it('is unknown where a trusted proxy gives none; then the proxy is the nearest that is known', () => {
    const unknown = { address: null, nearestKnown: null, ignoredProxy: null, forwarded: null }
    for (const forwardedFor of ['', 'unknown', '8.8.8.8,'])
      expect(find('::ffff:10.0.0.1', forwardedFor)).to.deep.equal({ ...unknown, nearestKnown: '10.0.0.1' })
    expect(find('10.0.0.1', '8.8.8.8, none, 198.41.200.1').nearestKnown).to.equal('198.41.200.1')
    expect(find(undefined, '8.8.8.8')).to.deep.equal(unknown)
  })

  it('is not the one that an untrusted proxy gives, which is told beside it', () => {
    expect(find('8.8.8.8', '1.1.1.1, 7.7.7.7:80')).to.deep.include({ address: '8.8.8.8', forwarded: '7.7.7.7' })
    expect(find('10.0.0.1', '7.7.7.7, 192.168.1.5')).to.deep.include({ address: '192.168.1.5', forwarded: '7.7.7.7' })
    for (const [peer, forwardedFor] of [
      ['8.8.8.8', ''],
      ['8.8.8.8', 'unknown'],
      ['10.0.0.1', '7.7.7.7'],
    ] as const)
      expect(find(peer, forwardedFor).forwarded).to.equal(null)
  })

  it('is read once for a request, and for each request anew', () => {
    let reads = 0
    const counted = (forwardedFor: string): CallerRequest => ({
      get() {
        reads += 1
        return forwardedFor
      },
      req: { socket: { remoteAddress: '10.0.0.1' } },
    })
    const [first, second] = [counted('8.8.8.8'), counted('9.9.9.9')]
    const addresses = [first, second, first, second].map(one => findCaller(one).address)
    expect(addresses).to.deep.equal(['8.8.8.8', '9.9.9.9', '8.8.8.8', '9.9.9.9'])
    expect(reads).to.equal(2)
  })
})

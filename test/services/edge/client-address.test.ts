// Whose address it is, when proxies stand in between: only what trusted ones wrote is believed.
import { expect } from 'chai'
import { createFindClientAddress } from '../../../services/edge/client-address.ts'

const PROXIES = ['10.0.0.0/8', '198.41.128.0/17', '2a06:98c0::/29', '127.0.0.1/32']

/** Trusted ranges, peer, X-Forwarded-For, and the address that counts. */
const ROWS: [string, readonly string[], string | undefined, string, string | null][] = [
  ['the peer, when no proxy is trusted', [], '8.8.8.8', '', '8.8.8.8'],
  ['the peer, whatever an untrusted one forwards', [], '8.8.8.8', '1.1.1.1', '8.8.8.8'],
  ['the peer, when it is none of the trusted', PROXIES, '8.8.8.8', '1.1.1.1, 10.0.0.2', '8.8.8.8'],
  ['what a trusted proxy saw', PROXIES, '10.0.0.1', '8.8.8.8', '8.8.8.8'],
  ['the last hop that is not trusted, not what the client made up', PROXIES, '10.0.0.1', '1.1.1.1, 8.8.8.8', '8.8.8.8'],
  ['past several trusted hops', PROXIES, '10.0.0.1', '9.9.9.9, 8.8.8.8, 198.41.200.1,10.9.9.9', '8.8.8.8'],
  ['an IPv6 client', PROXIES, '10.0.0.1', '2a00:1450::7', '2a00:1450::7'],
  ['past an IPv6 proxy', PROXIES, '2a06:98c0::1', '8.8.8.8', '8.8.8.8'],
  ['past a proxy whose IPv4 address is mapped', PROXIES, '::ffff:10.0.0.1', '::ffff:8.8.8.8', '8.8.8.8'],
  ['without the port a proxy added', PROXIES, '10.0.0.1', '8.8.8.8:4711', '8.8.8.8'],
  ['without the brackets and the port', PROXIES, '10.0.0.1', '[2a00:1450::7]:4711', '2a00:1450::7'],
  ['with odd spacing', PROXIES, '10.0.0.1', ' 1.1.1.1 ,  8.8.8.8  ', '8.8.8.8'],
  ['none, when the proxy does not say', PROXIES, '10.0.0.1', '', null],
  ['none, when the proxy says something else', PROXIES, '10.0.0.1', 'unknown', null],
  ['none, rather than a guess beyond what cannot be read', PROXIES, '10.0.0.1', '8.8.8.8, _hidden', null],
  ['none, behind an empty hop', PROXIES, '10.0.0.1', '8.8.8.8,', null],
  ['none, when every hop is trusted and private', PROXIES, '10.0.0.1', '10.0.0.3, 10.0.0.2', null],
  ['none, for a private client', PROXIES, '10.0.0.1', '192.168.1.5', null],
  ['none, for a client on this machine', [], '127.0.0.1', '', null],
  ['none, for a link-local peer with a zone', [], 'fe80::1%eth0', '', null],
  ['none, when the connection is gone', [], undefined, '8.8.8.8', null],
  ['none for `0x08.8.8.8`, which is no address', PROXIES, '10.0.0.1', '0x08.8.8.8', null],
]

describe("the client's address", () => {
  for (const [what, trusted, peer, forwarded, expected] of ROWS)
    it(`is ${what}`, () => expect(createFindClientAddress(trusted)(peer, forwarded)).to.equal(expected))
})

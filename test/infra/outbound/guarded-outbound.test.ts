// The address check of outbound calls, seen from outside: no URL, DNS answer or redirect leads to an address that is not allowed.
import process from 'node:process'
import { expect } from 'chai'
import { ForbiddenTarget, NotSent } from '../../../infra/outbound/outbound.ts'
import { CA } from '../../support/certificate.ts'
import { errorOf, get, LOOPBACK, post, useOutbound } from '../../support/outbound.ts'

const { outbound, receiver } = useOutbound()

const HOST = 'hooks.countersign.test'
const expectForbidden = async (call: Promise<unknown>, what = '') =>
  expect(await errorOf(call), what).to.be.instanceOf(ForbiddenTarget)

describe('guarded outbound calls', () => {
  describe('by default', () => {
    it('refuse private targets without a connection, however they are written', async () => {
      const hosts = `127.0.0.1 2130706433 0x7f000001 017700000001 127.1 0177.0.0.1 0x7f.0x0.0x0.0x1 127.0.1 127.0.0.1. 0
        ①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1 0.0.0.0 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]
        [0:0:0:0:0:ffff:127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] localhost LOCALHOST localhost. a.b.localhost
        a.localhost. 169.254.169.254 [fd00:ec2::254] 10.0.0.1 255.255.255.255`
      const server = await receiver(undefined, { tls: true })
      for (const host of hosts.split(/\s+/))
        await expectForbidden(post(outbound({ privateTargets: [], ca: CA }), `https://${host}:${server.port}/`), host)
      expect(server.connections()).to.equal(0)
    })

    it('refuse plain http without a lookup of the name', async () => {
      const lookedUp: string[] = []
      const lookup = async (host: string) => {
        lookedUp.push(host)
        return ['8.8.8.8']
      }
      await expectForbidden(post(outbound({ privateTargets: [], lookup }), 'http://example.com/'))
      expect(lookedUp).to.deep.equal([])
    })

    it('refuse what is not a target', async () => {
      const urls = `https://user@example.com/ https://user:pass@example.com/ https://example.com:0/ https://[fe80::1%25eth0]/
        https:// https:/// example.com //example.com/ https://1.2.3.4.5/ ftp://example.com/ file:///etc/passwd
        unix:/var/run/docker.sock http+unix://%2Fvar%2Frun%2Fx/ javascript:alert(1) data:text/plain,x gopher://example.com/
        https://256.256.256.256/`
      for (const url of [...urls.split(/\s+/), '', 'https://exa mple.com/'])
        await expectForbidden(post(outbound({ privateTargets: [], lookup: async () => ['8.8.8.8'] }), url), url)
    })
  })

  it('check the addresses that a name resolves to', async () => {
    for (const address of '127.0.0.1 10.0.0.1 169.254.169.254 ::1 ::ffff:10.0.0.1 fe80::1%2 fd00:ec2::254'.split(' '))
      await expectForbidden(post(outbound({ privateTargets: [], lookup: async () => [address] }), `https://${HOST}/`))
  })

  it('connect to the address that was checked: a name is looked up once per connection', async () => {
    const server = await receiver(undefined, { tls: true })
    const answers = ['127.0.0.1', '127.0.0.2']
    const lookedUp: string[] = []
    const lookup = async (host: string) => {
      lookedUp.push(host)
      return answers.splice(0, 1)
    }
    const first = outbound({ privateTargets: ['127.0.0.1/32'], lookup, ca: CA })
    const url = `https://${HOST}:${server.port}/`
    expect((await post(first, url, { headers: {} })).status).to.equal(200)
    expect(lookedUp).to.deep.equal([HOST])
    const second = outbound({ privateTargets: ['127.0.0.1/32'], lookup, ca: CA })
    await expectForbidden(post(second, url))
    expect(server.received).to.have.lengthOf(1)
  })

  it('connect only to the allowed ones of several addresses', async () => {
    const server = await receiver()
    const one = outbound({
      privateTargets: ['127.0.0.1/32'],
      lookup: async () => ['127.0.0.2', '10.0.0.1', '127.0.0.1'],
    })
    expect((await get(one, `http://${HOST}:${server.port}/`)).status).to.equal(200)
  })

  it('try the next address when one cannot be reached, at most four', async () => {
    const server = await receiver()
    const many = (before: number) => [...Array.from({ length: before }, (_, at) => `127.0.0.${at + 10}`), '127.0.0.1']
    const url = `http://${HOST}:${server.port}/`
    expect((await get(outbound({ lookup: async () => many(3) }), url)).status).to.equal(200)
    expect(await errorOf(get(outbound({ lookup: async () => many(4) }), url))).to.be.instanceOf(NotSent)
    expect(server.received).to.have.lengthOf(1)
  })

  it('ignore the proxy variables of the environment', async () => {
    const proxy = await receiver()
    const server = await receiver()
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
    const before = names.map(name => [name, process.env[name]] as const)
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`
    try {
      await get(outbound(), `http://127.0.0.1:${server.port}/`)
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
    expect([proxy.connections(), server.connections()]).to.deep.equal([0, 1])
  })

  it('may use plain http where the operator allows the address, but not to others', async () => {
    const server = await receiver()
    expect((await get(outbound(), `http://localhost:${server.port}/`)).status).to.equal(200)
    expect((await get(outbound({ privateTargets: 'all' }), `http://127.0.0.1:${server.port}/`)).status).to.equal(200)
    await expectForbidden(get(outbound({ lookup: async () => ['8.8.8.8'] }), 'http://example.com/'))
    await expectForbidden(get(outbound({ privateTargets: ['10.0.0.0/8'] }), 'http://127.0.0.1/'))
  })

  describe('over TLS', () => {
    it('check the certificate for the name', async () => {
      const server = await receiver(undefined, { tls: true })
      const one = outbound({ lookup: async () => ['127.0.0.1'], ca: CA })
      expect((await post(one, `https://${HOST}:${server.port}/x`)).status).to.equal(200)
      expect((await post(one, `https://${HOST}.:${server.port}/`)).status, 'without the dot at its end').to.equal(200)
      expect(server.servernames).to.deep.equal([HOST, HOST])
      expect(server.received[0]?.headers.host).to.equal(`${HOST}:${server.port}`)
    })

    it('check the certificate for an address, if the URL names the address', async () => {
      const server = await receiver(undefined, { tls: true })
      expect((await post(outbound({ ca: CA }), `https://127.0.0.1:${server.port}/`)).status).to.equal(200)
      expect(server.servernames).to.deep.equal([false])
    })

    it('send nothing to a server with the certificate of another name, even if the caller sets a host header', async () => {
      const server = await receiver(undefined, { tls: true })
      const one = outbound({ lookup: async () => ['127.0.0.1'], ca: CA })
      const call = post(one, `https://other.countersign.test:${server.port}/`, { headers: { host: HOST } })
      expect(await errorOf(call)).to.be.instanceOf(NotSent)
      expect(server.received).to.deep.equal([])
    })

    it('check the certificate even if the environment says not to', async () => {
      const server = await receiver(undefined, { tls: true })
      const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
      try {
        expect(await errorOf(post(outbound(), `https://127.0.0.1:${server.port}/`))).to.be.instanceOf(NotSent)
      } finally {
        if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
        else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
      }
      expect(server.received).to.deep.equal([])
    })
  })
})

describe('the resolved address of a host for another protocol than HTTP', () => {
  it('is one that may be called', async () => {
    expect(
      await outbound({ privateTargets: [], lookup: async () => ['8.8.8.8'] }).resolve('mail.example.com'),
    ).to.equal('8.8.8.8')
    expect(await outbound().resolve('127.0.0.1')).to.equal('127.0.0.1')
    expect(await outbound().resolve('0x7f.1')).to.equal('127.0.0.1')
    expect(await outbound({ privateTargets: LOOPBACK }).resolve('localhost')).to.equal('127.0.0.1')
    expect(await outbound({ privateTargets: ['::1/128'] }).resolve('::1')).to.equal('::1')
  })

  it('is refused for a private address, and for what is not a host name', async () => {
    for (const host of '127.0.0.1 0x7f.1 ::1 [::1] localhost 10.0.0.1 ::ffff:10.0.0.1 fe80::1%eth0'.split(' '))
      await expectForbidden(outbound({ privateTargets: [] }).resolve(host), host)
    const names = 'mail.example.com:25 user@mail.example.com mail.example.com/x a?b /var/run/x'
    for (const host of [...names.split(' '), '', 'a b'])
      await expectForbidden(outbound({ lookup: async () => ['127.0.0.1'] }).resolve(host), host)
  })
})

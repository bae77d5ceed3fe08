import { expect } from 'chai'
import { createTargetInspector } from '../../../infra/outbound/target-inspector.ts'

const NAMES: Record<string, string> = { 'shop.example': '8.8.8.8', 'inside.example': '10.1.2.3' }

const inspector = (privateTargets: 'all' | string[] = []) =>
  createTargetInspector({
    privateTargets,
    async lookup(host) {
      if (/^[\d.]+$/.test(host)) return [host]
      const address = NAMES[host]
      if (address === undefined) throw new Error('ENOTFOUND')
      return [address]
    },
  })

describe('the inspection of an address that is to be saved', () => {
  it('accepts a public address', async () => {
    expect(await inspector().url('https://shop.example/hooks')).to.equal(null)
    expect(await inspector().url('https://8.8.8.8/')).to.equal(null)
    expect(await inspector().host('shop.example')).to.equal(null)
  })

  it('gives the reason why a call would be refused', async () => {
    const { url, host } = inspector()
    expect(await url('http://shop.example/')).to.equal('plain http is not allowed')
    expect(await url('https://10.0.0.1/')).to.equal('not a public address')
    expect(await url('https://inside.example/')).to.equal('not a public address')
    expect(await url('https://shop.example:0/')).to.be.a('string')
    expect(await url('https://u:p@shop.example/')).to.be.a('string')
    expect(await url('nonsense')).to.equal('not a URL')
    expect(await host('inside.example')).to.equal('not a public address')
    expect(await host('a b')).to.equal('not a host name')
  })

  it('accepts an address that the operator allows', async () => {
    const { url, host } = inspector(['10.0.0.0/8'])
    expect(await url('http://inside.example/')).to.equal(null)
    expect(await host('inside.example')).to.equal(null)
    expect(await url('http://shop.example/')).to.equal('plain http is not allowed there')
    expect(await inspector('all').url('http://127.0.0.1:3000/')).to.equal(null)
  })

  it('accepts a name that does not exist yet', async () => {
    expect(await inspector().url('https://soon.example/')).to.equal(null)
    expect(await inspector().host('soon.example')).to.equal(null)
  })
})

import { expect } from 'chai'
import { createDnsLookup } from '../../../infra/outbound/lookup.ts'

describe('the lookup of a host', () => {
  for (const localNames of [true, false])
    describe(localNames ? 'with the names this machine knows' : 'by DNS alone', () => {
      const lookup = createDnsLookup({ localNames })

      it('takes an address as it is', async () => {
        for (const address of ['127.0.0.1', '::1', 'fe80::1%lo']) expect(await lookup(address)).to.deep.equal([address])
      })

      it('asks nobody where localhost is', async () => {
        for (const name of ['localhost', 'LocalHost', 'localhost.', 'app.localhost', 'app.localhost.'])
          expect(await lookup(name)).to.deep.equal(['127.0.0.1', '::1'])
      })
    })
})

import { expect } from 'chai'
import { createDnsLookup } from '../../../infra/outbound/lookup.ts'

describe('the lookup of a host', () => {
  for (const localNames of [true, false])
    describe(localNames ? 'with local names' : 'by DNS only', () => {
      const lookup = createDnsLookup({ localNames })

      it('returns an address unchanged', async () => {
        for (const address of ['127.0.0.1', '::1', 'fe80::1%lo']) expect(await lookup(address)).to.deep.equal([address])
      })

      it('knows localhost without DNS', async () => {
        for (const name of ['localhost', 'LocalHost', 'localhost.', 'app.localhost', 'app.localhost.'])
          expect(await lookup(name)).to.deep.equal(['127.0.0.1', '::1'])
      })
    })
})

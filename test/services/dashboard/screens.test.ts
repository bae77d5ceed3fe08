// The addresses of the dashboard's screens: what they say, and how they are made.
import { expect } from 'chai'
import { addressIn, readPlace, SCREENS } from '../../../services/dashboard/screens.ts'

const BOTH = { app_id: 'app_1', company_id: 'cmp_1' }

describe('the address of a screen', () => {
  it('keeps what follows the path', () => {
    expect(addressIn(BOTH, '/verifications?tab=refusals#x')).to.equal('/a/app_1/verifications?tab=refusals#x')
    expect(addressIn(BOTH, '/verifications/otp_1?a=/b')).to.equal('/a/app_1/verifications/otp_1?a=/b')
    expect(addressIn(BOTH, '/docs#errors')).to.equal('/docs#errors')
  })

  it('names what is known', () => {
    expect(addressIn({ app_id: null, company_id: 'cmp_1' }, '/overview')).to.equal('/c/cmp_1/overview')
    expect(addressIn({ app_id: 'app_1', company_id: null }, '/money')).to.equal('/a/app_1/money')
    expect(addressIn({ app_id: null, company_id: null }, '/money')).to.equal('/money')
  })

  it('is read as it was made, whatever the id', () => {
    for (const id of ['app_1', 'a b', '../x', 'ä?#%', 'a'])
      for (const { path, of } of SCREENS) {
        const { pathname } = new URL(addressIn({ app_id: id, company_id: id }, path), 'https://own.invalid')
        expect(readPlace(pathname), pathname).to.deep.include({
          path,
          app_id: of === 'app' ? id : null,
          company_id: of === 'company' ? id : null,
        })
      }
    expect(readPlace('/a/app_1/verifications/otp_1')).to.deep.include({ path: '/verifications/otp_1', app_id: 'app_1' })
  })

  it('is not every address', () => {
    for (const path of [
      '/',
      '/a',
      '/a/app_1',
      '/a/app_1/',
      '/a/app_1/x',
      '/a/%zz/overview',
      '/c/cmp_1/queues',
      '/money/x',
    ])
      expect(readPlace(path), path).to.equal(null)
  })
})

import { expect } from 'chai'
import { onlyRole } from '../../../../services/dashboard/web/data/role-words.ts'

describe('who may do what a role does not allow', () => {
  it('names the lowest role and those above it in the company, or the operators', () => {
    expect(onlyRole('developer', 'change the limits')).to.equal(
      'Only developers and owners of your company can change the limits.',
    )
    expect(onlyRole('owner', 'invite people')).to.equal('Only owners of your company can invite people.')
    expect(onlyRole('operator', 'set prices')).to.equal('Only operators of this deployment can set prices.')
  })
})

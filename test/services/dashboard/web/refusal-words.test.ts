// Every refusal of the API has words in the dashboard.
import { expect } from 'chai'
import { ERROR_TYPES } from '../../../../machines/errors.ts'
import {
  REFUSAL_TYPES,
  refusalWords,
  scopeText,
} from '../../../../services/dashboard/web/screens/verifications/refusal-words.ts'
import { limitScope, problemType } from '../../../../services/domain/openapi/shared-schemas.ts'

describe('the words of a refusal', () => {
  it('are there for every error type of the API, and for no other', () => {
    expect([...REFUSAL_TYPES].sort()).to.deep.equal([...problemType.options].sort())
    expect(REFUSAL_TYPES).to.include.members(ERROR_TYPES)
  })

  for (const type of problemType.options)
    it(`say what ${type} means and what to do, in sentences`, () => {
      const { title, means, todo } = refusalWords(type, null)
      expect(title)
        .to.match(/^[A-Z].{4,30}$/)
        .and.not.match(/\.$/)
      for (const sentence of [means, todo]) expect(sentence).to.match(/^[A-Z].{10,}\.$/)
    })

  for (const scope of limitScope.options)
    it(`name the limit ${scope}`, () => {
      expect(scopeText(scope)).to.match(/^[A-Z].{10,}\.$/)
      expect(refusalWords('RateLimitExceededError', scope).means).to.equal(scopeText(scope))
    })
})

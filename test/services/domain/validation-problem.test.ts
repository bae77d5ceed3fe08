import { expect } from 'chai'
import { validationProblem } from '../../../services/domain/errors.ts'

const problems = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ path: `m${nth}`, message: 'is wrong' }))

describe('the refusal of a body', () => {
  it('names every problem', () => {
    const { members, detail } = validationProblem(problems(2)).extras
    expect(members).to.deep.equal({ errors: problems(2) })
    expect(detail).to.equal('m0 is wrong; m1 is wrong.')
  })

  it('names the first hundred of a body that is nothing but problems, and counts all', () => {
    const { members, detail } = validationProblem(problems(2_000)).extras
    expect(members).to.deep.equal({ errors: problems(100) })
    expect(detail).to.match(/; and 1990 more\.$/)
  })
})

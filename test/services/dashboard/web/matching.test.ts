// The search for a company or an app.
import { expect } from 'chai'
import { matching } from '../../../../services/dashboard/web/shell/matching.ts'

const CHOICES = [
  { id: 'cmp_1', name: 'Acme' },
  { id: 'cmp_2', name: 'Big Acme' },
  { id: 'cmp_3', name: 'Café Zürich' },
  { id: 'cmp_4', name: 'acme logistics' },
]
const found = (search: string): string[] => matching(CHOICES, search).map(({ id }) => id)

describe('the search for a company', () => {
  it('finds all without a word, by name', () => expect(found(' ')).to.deep.equal(['cmp_1', 'cmp_4', 'cmp_2', 'cmp_3']))
  it('puts an equal name first, then those that begin so', () =>
    expect(found('ACME')).to.deep.equal(['cmp_1', 'cmp_4', 'cmp_2']))
  it('needs every word, in any order', () => expect(found('logistics ac')).to.deep.equal(['cmp_4']))
  it('reads letters without their marks', () => expect(found('cafe zur')).to.deep.equal(['cmp_3']))
  it('finds an id', () => expect(found('cmp_2')).to.deep.equal(['cmp_2']))
  it('finds nothing where nothing fits', () => expect(found('acme berlin')).to.deep.equal([]))
})

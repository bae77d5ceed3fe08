import { expect } from 'chai'
import { suggestName } from '../../../../services/dashboard/web/screens/providers/provider-names.ts'
import {
  type Placed,
  positionsAfterMove,
  positionsFor,
  type Step,
  splitByCountry,
  splittable,
  withPositions,
} from '../../../../services/dashboard/web/screens/providers/provider-order.ts'

const at = (...placed: [string, number][]): Placed[] => placed.map(([name, position]) => ({ name, position }))

/** The order that the server makes of the positions. */
const orderAfter = (all: Placed[], name: string, step: Step): string[] => {
  const changes = new Map(positionsAfterMove(all, name, step).map(change => [change.name, change.position]))
  return all
    .map(one => ({ ...one, position: changes.get(one.name) ?? one.position }))
    .sort((a, b) => a.position - b.position || (a.name < b.name ? -1 : 1))
    .map(one => one.name)
}

describe('the order of providers', () => {
  it('counts anew where positions are equal', () => {
    const all = at(['a', 3], ['b', 3], ['c', 3])
    expect(orderAfter(all, 'c', 'up')).to.deep.equal(['a', 'c', 'b'])
    expect(orderAfter(all, 'a', 'down')).to.deep.equal(['b', 'a', 'c'])
  })

  it('gives a country to one provider, first, and leaves the rest to the others', () => {
    const scoped = (name: string, position: number, countries: string[] | null = null, paused = false) => ({
      name,
      position,
      countries,
      paused,
    })
    const all = [scoped('twilio', 0), scoped('vonage', 1), scoped('off', 2, null, true)]
    const { countries, positions } = splitByCountry(all, 'vonage', 'IN')
    expect([countries, positions]).to.deep.equal([['IN'], at(['vonage', 0], ['twilio', 1])])
    const split = [scoped('vonage', 0, ['IN']), scoped('twilio', 1)]
    expect(splitByCountry(split, 'vonage', 'BD')).to.deep.equal({ countries: ['IN', 'BD'], positions: [] })
    expect(
      splittable(split).map(({ name }) => name),
      'without twilio nobody would serve the rest',
    ).to.deep.equal(['vonage'])
    expect(splittable([scoped('twilio', 0), scoped('off', 1, null, true)]).map(({ name }) => name)).to.deep.equal([
      'off',
    ])
    expect(splittable([scoped('twilio', 0)])).to.deep.equal([])
  })

  it('changes nothing at the ends, and for a name that is not there', () => {
    const all = at(['a', 0], ['b', 1])
    for (const [name, step] of [
      ['a', 'up'],
      ['b', 'down'],
      ['x', 'up'],
    ] as const) {
      expect(positionsAfterMove(all, name, step)).to.deep.equal([])
    }
  })

  it('is that of given names', () => {
    const all = at(['a', 0], ['b', 1], ['c', 5])
    expect(positionsFor(all, ['c', 'a', 'b'])).to.deep.equal(at(['c', 0], ['a', 1], ['b', 5]))
    expect(positionsFor(all, ['a', 'b', 'c'])).to.deep.equal([])
  })

  it('is the base of the next move, before the server has answered', () => {
    const all = at(['a', 3], ['b', 3], ['c', 3])
    const first = withPositions(all, positionsAfterMove(all, 'c', 'up'))
    expect(first).to.deep.equal(at(['a', 0], ['c', 1], ['b', 2]))
    expect(withPositions(first, positionsAfterMove(first, 'c', 'up'))).to.deep.equal(at(['c', 0], ['a', 1], ['b', 2]))
  })
})

describe('the name of a new provider', () => {
  it('is that of its type, with a number where it is taken', () => {
    expect(suggestName('whatsapp_cloud', [])).to.equal('whatsapp-cloud')
    expect(suggestName('http', ['http', 'http-2'])).to.equal('http-3')
  })
})

import { expect } from 'chai'
import { callbackAddress, suggestName } from '../../../../services/dashboard/web/screens/providers/provider-names.ts'
import {
  type Placed,
  positionsAfterMove,
  type Step,
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
  it('swaps two neighbours and leaves the others', () => {
    const all = at(['a', 0], ['b', 4], ['c', 9])
    expect(positionsAfterMove(all, 'c', 'up')).to.deep.equal(at(['c', 4], ['b', 9]))
    expect(orderAfter(all, 'c', 'up')).to.deep.equal(['a', 'c', 'b'])
    expect(orderAfter(all, 'a', 'down')).to.deep.equal(['b', 'a', 'c'])
  })

  it('counts anew where positions are equal', () => {
    const all = at(['a', 3], ['b', 3], ['c', 3])
    expect(orderAfter(all, 'c', 'up')).to.deep.equal(['a', 'c', 'b'])
    expect(orderAfter(all, 'a', 'down')).to.deep.equal(['b', 'a', 'c'])
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

  it('is in the address of callbacks', () => {
    expect(callbackAddress('https://otp.example', 'app_1', 'main')).to.equal('https://otp.example/callbacks/app_1/main')
  })
})

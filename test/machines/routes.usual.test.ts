import { expect } from 'chai'
import { createUsual } from '../../machines/routes.usual.ts'
import { counts, HOUR, MIDNIGHT } from '../support/routes.ts'

describe('the usual messages of a route that is younger than a day', () => {
  const now = MIDNIGHT + 12 * HOUR
  const hour = (ago: number, messages: number) => counts(now - ago * HOUR, messages, 0)

  it('are those of an average hour, without the hour that has just ended and the current one', () => {
    const quiet = [hour(4, 10), hour(3, 20), hour(2, 30)]
    expect(createUsual(quiet).messagesAt(now)).to.equal(20)
    expect(createUsual([...quiet, hour(1, 900), hour(0, 900)]).messagesAt(now + HOUR / 2)).to.equal(20)
  })

  it('are none in its first two hours', () => {
    expect(createUsual([hour(1, 900), hour(0, 900)]).messagesAt(now)).to.equal(0)
  })
})

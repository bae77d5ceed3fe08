import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../../infra/ids.ts'
import { eventId, parseEventId } from '../../../../services/domain/webhooks/event-ids.ts'

describe('the id of an event', () => {
  const event = fc.record({
    _id: fc.integer({ min: 0, max: 2 ** 48 - 1 }).map(now => newId('evt', now)),
    mode: fc.constantFrom('live' as const, 'test' as const),
  })

  it('begins with evt_test_ in test mode alone, and finds the event that it is the id of', () => {
    fc.assert(
      fc.property(event, one => {
        expect(eventId(one).startsWith('evt_test_')).to.equal(one.mode === 'test')
        expect(eventId(one)).to.match(/^evt_/)
        expect(parseEventId(eventId(one))).to.deep.equal({ ...one })
      }),
    )
  })
})

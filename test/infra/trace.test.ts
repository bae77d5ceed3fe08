import { expect } from 'chai'
import fc from 'fast-check'
import { parseTraceparent, requestOf, traceIn } from '../../infra/trace.ts'
import { anyText } from '../support/any-text.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const VALID = `00-${TRACE_ID}-${PARENT_ID}-01`

describe('the trace of a request', () => {
  it('takes a traceparent as it came', () => {
    expect(parseTraceparent(VALID)).to.equal(VALID)
    expect(parseTraceparent(`cc-${VALID.slice(3)}-what-comes-later`), 'of a later version').to.equal(VALID)
    expect(parseTraceparent(`00-${TRACE_ID}-${PARENT_ID}-00`)).to.equal(`00-${TRACE_ID}-${PARENT_ID}-00`)
  })

  const malformed: Record<string, string> = {
    'an empty text': '',
    'the version ff': `ff-${TRACE_ID}-${PARENT_ID}-01`,
    'a trace id of zeros': `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    'a parent id of zeros': `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    'upper-case digits': VALID.toUpperCase(),
    'more members than version 00 has': `${VALID}-more`,
    'two headers that were joined': `${VALID}, ${VALID}`,
    'a line break': `${VALID}\n`,
    'a later version that is too long': `cc-${TRACE_ID}-${PARENT_ID}-01-${'x'.repeat(300)}`,
  }
  it('takes a malformed one for none', () => {
    for (const [title, text] of Object.entries(malformed)) expect(parseTraceparent(text), title).to.equal(null)
  })

  it('never passes on anything but the 55 characters of a trace context', () => {
    const text = fc.oneof(anyText(), fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[ -~]*)?$/))
    fc.assert(
      fc.property(text, given => {
        const parsed = parseTraceparent(given)
        if (parsed === null) return
        expect(parsed).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
        expect(parsed.slice(2)).to.equal(given.slice(2, 55))
      }),
    )
  })

  it('reads a trace that came with a message, and none that another program wrote', () => {
    expect(traceIn({ request_id: 'abc', traceparent: VALID, attempt: 1 })).to.deep.equal({
      request_id: 'abc',
      traceparent: VALID,
    })
    expect(traceIn({ request_id: 'abc' })).to.deep.equal({ request_id: 'abc', traceparent: null })
    expect(traceIn({ request_id: 'abc', traceparent: 'broken' })?.traceparent).to.equal(null)
    for (const other of [undefined, null, 'abc', {}, { request_id: 7 }, { request_id: 'a b' }, { request_id: '' }])
      expect(traceIn(other)).to.equal(undefined)
  })

  it('gives a log line its request id, where there is one', () => {
    expect(requestOf({ trace: { request_id: 'abc', traceparent: null } })).to.deep.equal({ request_id: 'abc' })
    expect(requestOf({})).to.deep.equal({})
  })
})

import { expect } from 'chai'
import { durations, formatDuration, parseDuration } from '../../../../services/dashboard/web/data/duration.ts'

describe('a span of time in a field', () => {
  const spans: [number, string][] = [
    [1, '1 second'],
    [30, '30 seconds'],
    [60, '1 minute'],
    [600, '10 minutes'],
    [3_600, '1 hour'],
    [5_400, '1 hour 30 minutes'],
    [86_400, '1 day'],
    [604_800, '7 days'],
    [90_061, '1 day 1 hour 1 minute 1 second'],
  ]
  for (const [seconds, text] of spans)
    it(`is shown as ${text}, and read back`, () => {
      expect(formatDuration(seconds)).to.equal(text)
      expect(parseDuration(text)).to.equal(seconds)
    })

  const typed: [string, number | null][] = [
    ['10 min', 600],
    ['10MIN', 600],
    [' 1h 30m ', 5_400],
    ['1 hour and 30 minutes', 5_400],
    ['1 day, 2 hours', 93_600],
    ['2 weeks', 1_209_600],
    ['90s', 90],
    ['0', 0],
    ['0 seconds', 0],
    ['', null],
    ['10', null],
    ['minutes', null],
    ['10 fortnights', null],
    ['ten minutes', null],
    ['1.5 hours', null],
    ['-5 minutes', null],
    ['10 minutes!', null],
  ]
  for (const [text, seconds] of typed)
    it(`reads ${JSON.stringify(text)} as ${seconds}`, () => expect(parseDuration(text)).to.equal(seconds))

  it('is shown in seconds where it is none', () => {
    expect(formatDuration(0)).to.equal('0 seconds')
    expect(formatDuration(-1)).to.equal('-1 seconds')
  })

  it('stands in a list with commas', () => {
    expect(durations.format([30, 60, 120])).to.equal('30 seconds, 1 minute, 2 minutes')
    expect(durations.parse('30 s, 1 min, 0')).to.deep.equal([30, 60, 0])
    expect(durations.parse('30 s, soon')).to.equal(null)
    expect(durations.parse('')).to.equal(null)
  })
})

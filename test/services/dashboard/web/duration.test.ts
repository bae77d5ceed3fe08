import { expect } from 'chai'
import {
  durations,
  formatDuration,
  parseDuration,
  shortDurationOfMs,
} from '../../../../services/dashboard/web/data/duration.ts'

describe('a span of time in a field', () => {
  const spans: [number, string][] = [
    [1, '1 second'],
    [600, '10 minutes'],
    [5_400, '1 hour 30 minutes'],
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
    [' 1h 30m ', 5_400],
    ['1 hour and 30 minutes', 5_400],
    ['2 weeks', 1_209_600],
    ['0 seconds', 0],
    ['', null],
    ['10', null],
    ['10 fortnights', null],
    ['1.5 hours', null],
    ['-5 minutes', null],
  ]
  for (const [text, seconds] of typed)
    it(`reads ${JSON.stringify(text)} as ${seconds}`, () => expect(parseDuration(text)).to.equal(seconds))

  it('stands in a list with commas', () => {
    expect(durations.format([30, 60, 120])).to.equal('30 seconds, 1 minute, 2 minutes')
    expect(durations.parse('30 s, 1 min, 0')).to.deep.equal([30, 60, 0])
    expect(durations.parse('30 s, soon')).to.equal(null)
    expect(durations.parse('')).to.equal(null)
  })
})

describe('what a machine took', () => {
  for (const [ms, text] of [
    [-5, '0 ms'],
    [999.6, '1 s'],
    [4_230, '4.2 s'],
    [9_949, '9.9 s'],
    [9_950, '10 s'],
    [59_500, '1 min'],
    [65_000, '1 min 5 s'],
    [3_599_600, '1 h'],
    [7_800_000, '2 h 10 min'],
    [273_600_000, '3 d 4 h'],
  ] as const)
    it(`${ms} ms is "${text}"`, () => expect(shortDurationOfMs(ms)).to.equal(text))
})

import { expect } from 'chai'
import {
  durations,
  formatDuration,
  msBetween,
  parseDuration,
  shortDuration,
  shortDurationOfMs,
} from '../../../../services/dashboard/web/data/duration.ts'

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

describe('a span of time in a figure', () => {
  const spans: [number, string][] = [
    [0, '0 s'],
    [0.4, '0 s'],
    [59.6, '1 min'],
    [130, '2 min 10 s'],
    [3_599.6, '1 h'],
    [3_905, '1 h 5 min'],
    // Rounded, not cut off.
    [3_959, '1 h 6 min'],
    [86_399, '1 d'],
    [187_200, '2 d 4 h'],
  ]
  for (const [seconds, text] of spans)
    it(`of ${seconds} s is "${text}"`, () => expect(shortDuration(seconds)).to.equal(text))
})

describe('what a machine took', () => {
  for (const [ms, text] of [
    [-5, '0 ms'],
    [0, '0 ms'],
    [812, '812 ms'],
    [999.6, '1 s'],
    [4_000, '4 s'],
    [4_230, '4.2 s'],
    [9_949, '9.9 s'],
    [9_950, '10 s'],
    [59_499, '59 s'],
    [59_500, '1 min'],
    [65_000, '1 min 5 s'],
    [3_599_499, '59 min 59 s'],
    [3_599_600, '1 h'],
    [7_800_000, '2 h 10 min'],
    [86_399_000, '1 d'],
    [273_600_000, '3 d 4 h'],
  ] as const)
    it(`${ms} ms is "${text}"`, () => expect(shortDurationOfMs(ms)).to.equal(text))

  it('is counted between two times of the API', () => {
    expect(msBetween('2030-01-01T00:00:00.000Z', '2030-01-01T00:00:00.812Z')).to.equal(812)
  })
})

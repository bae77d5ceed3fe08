import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { isGivenId, isId, newId, ulidTime } from '../../infra/ids.ts'

const LATEST = 2 ** 48 - 1
const bytes =
  (...values: number[]) =>
  () =>
    Buffer.from(values)

describe('ids', () => {
  it('are a prefix, 48 bits of time and 80 random bits', () => {
    expect(newId('otp', 1_893_456_000_000, bytes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9))).to.equal(
      'otp_01q3dcbd00000g40r40m30e209',
    )
    expect(newId('evt', LATEST, bytes(...Array(10).fill(255)))).to.equal(`evt_7${'z'.repeat(25)}`)
    expect(newId('cmp', 0, bytes(...Array(10).fill(0)))).to.equal(`cmp_${'0'.repeat(26)}`)
  })

  it('differ within a millisecond and across refills of the pool of random bytes', () => {
    const made = new Set(Array.from({ length: 5000 }, () => newId('dlv', 1)))
    expect(made).to.have.property('size', 5000)
  })

  it('sort by the time they were made', () => {
    const time = fc.integer({ min: 0, max: LATEST })
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a !== b)
        expect(newId('otp', a) < newId('otp', b)).to.equal(a < b)
      }),
    )
  })

  it('hold their time and their kind', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LATEST }), now => {
        const id = newId('key', now)
        expect(ulidTime(id)).to.equal(now)
        expect(ulidTime(id.slice('key_'.length))).to.equal(now)
        expect([isId('key', id), isId('otp', id)]).to.deep.equal([true, false])
      }),
    )
  })

  it('need a time in whole milliseconds of at most 48 bits', () => {
    for (const now of [-1, LATEST + 1, 1.5, Number.NaN]) expect(() => newId('otp', now)).to.throw(RangeError)
  })

  const ulid = '01q3dcbd00000g40r40m30e209'
  it('have one form', () => {
    const [short, lengths] = [ulid.slice(1), ['', 'otp_', ulid, `otp_${ulid}0`, `otp_${ulid.slice(1)}`, 'otp_demo']]
    const cases = [`OTP_${ulid}`, `otp_${ulid.toUpperCase()}`, ` otp_${ulid}`, `otp_${ulid}\n`]
    for (const text of [...lengths, ...cases, `otp_8${short}`, `otp_${short}u`, `otp_${short}l`])
      expect(isId('otp', text), text).to.equal(false)
  })

  it('have no time if they hold no ULID', () => {
    expect(ulidTime('app_demo')).to.equal(null)
    expect(ulidTime(`8${ulid.slice(1)}`)).to.equal(null)
  })

  it('of companies, apps and keys may come from a bootstrap file, and then need no time', () => {
    for (const id of ['app_demo', 'app_Shop2', newId('app', 1), `app_${'a'.repeat(64)}`])
      expect(isGivenId('app', id), id).to.equal(true)
    for (const text of ['app_', 'app_my-shop', 'key_demo', 'demo', `app_${'a'.repeat(65)}`, 'app_demo\n'])
      expect(isGivenId('app', text), text).to.equal(false)
  })
})

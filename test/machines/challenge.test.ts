import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { solveChallenge } from '../../clients/typescript/src/challenge-solver.ts'
import {
  difficultyFor,
  EASIEST_DIFFICULTY,
  encodeSalt,
  HARDEST_DIFFICULTY,
  isHardest,
  isSolved,
  leadingZeroBits,
  MAX_SOLUTION_LENGTH,
  parseSolution,
  SALT_RANDOM_BYTES,
} from '../../machines/challenge.ts'

const terms = fc.record({
  difficulty: fc.integer({ min: EASIEST_DIFFICULTY, max: HARDEST_DIFFICULTY }),
  expires_at: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
})
const random = fc.uint8Array({ minLength: SALT_RANDOM_BYTES, maxLength: SALT_RANDOM_BYTES })
const SIGNATURE = 's'.repeat(43)

describe('a challenge', () => {
  it('is harder under more pressure, within its bounds', () => {
    expect([-1, 0, 0.5, 1, 7].map(difficultyFor)).to.deep.equal([16, 16, 21, 25, 25])
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.double({ noNaN: true }), (one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map(difficultyFor)
        expect(less).to.be.within(EASIEST_DIFFICULTY, more ?? 0)
        expect(more).to.be.at.most(HARDEST_DIFFICULTY)
      }),
    )
    expect(isHardest({ difficulty: HARDEST_DIFFICULTY })).to.equal(true)
    expect(isHardest({ difficulty: HARDEST_DIFFICULTY - 1 })).to.equal(false)
  })

  it('carries its terms in a salt that leaves room for the nonce in one block', () => {
    fc.assert(
      fc.property(terms, random, fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (given, bytes, nonce) => {
        const salt = encodeSalt(given, bytes)
        expect(salt).to.match(/^[\w-]+$/)
        // SHA-256 needs nine bytes of its last block for padding.
        expect(`${salt}.${nonce}`.length).to.be.at.most(64 - 9)
        const text = `${salt}.${nonce}.${SIGNATURE}`
        expect(text.length).to.be.at.most(MAX_SOLUTION_LENGTH)
        expect(parseSolution(text)).to.deep.equal({ salt, nonce: String(nonce), signature: SIGNATURE, ...given })
      }),
    )
    fc.assert(
      fc.property(terms, random, random, (given, one, other) => {
        fc.pre(one.join() !== other.join())
        expect(encodeSalt(given, one)).not.to.equal(encodeSalt(given, other))
      }),
    )
  })

  it('has no solution in any other text', () => {
    const salt = encodeSalt({ difficulty: 16, expires_at: 1 }, new Uint8Array(SALT_RANDOM_BYTES))
    expect(parseSolution(`${salt}.1.${SIGNATURE}`)).not.to.equal(null)
    for (const text of [
      '',
      '..',
      `${salt}.${SIGNATURE}`,
      `${salt}..${SIGNATURE}`,
      `${salt}.12345678901234567.${SIGNATURE}`,
      `${salt}.-1.${SIGNATURE}`,
      `${salt}.1e3.${SIGNATURE}`,
      `${salt}.١.${SIGNATURE}`,
      `${salt.slice(1)}.1.${SIGNATURE}`,
      `${salt}.1.${SIGNATURE}=`,
      ` ${salt}.1.${SIGNATURE}`,
      `${salt}.1.${SIGNATURE}\n`,
    ])
      expect(parseSolution(text), text).to.equal(null)
    fc.assert(fc.property(fc.string(), text => parseSolution(text) === null || text.length <= MAX_SOLUTION_LENGTH))
  })

  it('counts the zero bits at the beginning', () => {
    expect(leadingZeroBits(new Uint8Array([128]))).to.equal(0)
    expect(leadingZeroBits(new Uint8Array([0, 0]))).to.equal(16)
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 32 }), bytes => {
        const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
        expect(leadingZeroBits(bytes)).to.equal(/^0*/.exec(bits)?.[0].length)
      }),
    )
  })

  it('is solved by the first nonce of ten digits whose SHA-256 begins with as many zero bits', () => {
    const digestOf = (salt: string, nonce: number) => createHash('sha256').update(`${salt}.${nonce}`).digest()
    fc.assert(
      fc.property(random, fc.integer({ min: 0, max: 9 }), (bytes, difficulty) => {
        const given = { difficulty, expires_at: 0 }
        const salt = encodeSalt(given, bytes)
        let first = 1_000_000_000
        while (!isSolved(given, digestOf(salt, first))) first += 1
        expect(solveChallenge(salt, difficulty)).to.equal(first)
      }),
    )
  })
})

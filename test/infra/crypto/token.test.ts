import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { deriveToken, parseToken, type TokenInputs } from '../../../infra/crypto/token.ts'
import { newId } from '../../../infra/ids.ts'

const secret = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const otpId = 'otp_01jz8x4q3k5m7n9p1r3t5v7w9y'
const of: TokenInputs = { otpId, generation: 1, keyId: 'key_01jz8x4q3k5m7n9p1r3t5v7w9z' }

describe('the verification token', () => {
  it('never changes its derivation: it is derived again when exchanged', () => {
    // Computed with Python's hmac.
    expect(deriveToken(of, secret)).to.equal(
      'otp_vt_01jz8x4q3k5m7n9p1r3t5v7w9ymMbO-NUmGHNXynwRUFE1RfedqHxahatqFzsJX_iK0eA',
    )
  })

  it('begins with otp_vt_, has at most 128 characters and holds the id of its verification', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        fc.nat(),
        fc.uint8Array({ minLength: 32 }),
        (now, generation, key) => {
          const id = newId('otp', now)
          const token = deriveToken({ otpId: id, generation, keyId: 'key_a' }, Buffer.from(key))
          expect(token).to.match(/^otp_vt_[A-Za-z0-9_-]+$/)
          expect(token).to.have.length(76)
          expect(parseToken(token)).to.deep.equal({ otpId: id })
        },
      ),
    )
  })

  it('depends on verification, generation, key and secret', () => {
    const others = [
      deriveToken(of, secret),
      deriveToken({ ...of, generation: 2 }, secret),
      deriveToken({ ...of, keyId: 'key_other' }, secret),
      deriveToken({ ...of, otpId: otpId.replace(/y$/, 'x') }, secret),
      deriveToken(of, Buffer.alloc(32)),
    ]
    expect(new Set(others.map(token => token.slice(-43)))).to.have.property('size', others.length)
  })

  it('is no text of another form', () => {
    const [id, proof] = [otpId.slice(4), 'A'.repeat(43)]
    for (const text of [
      'otp_vt_',
      `otp_vt_${id}`,
      `otp_vt_${id}${proof}A`,
      `otp_vt_${id}${proof.slice(1)}`,
      `otp_vt_${id}${proof.slice(1)}=`,
      `OTP_VT_${id}${proof}`,
      `otp_vt_${id.toUpperCase()}${proof}`,
      `otp_vt_8${id.slice(1)}${proof}`,
      `otp_vt_u${id.slice(1)}${proof}`,
      ` otp_vt_${id}${proof}`,
      `otp_vt_${id}${proof}\n`,
      'x'.repeat(200),
    ])
      expect(parseToken(text), text).to.equal(null)
  })
})

import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { createKeyring, NoCodeSecrets, UnknownSecret, Unsealable } from '../../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const counting = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const k1 = { id: 'k1', key: counting }
const k2 = { id: 'k-2_B', key: Buffer.alloc(32, 2) }
const c1 = { id: 'c1', key: counting }
const c2 = { id: 'c2', key: Buffer.alloc(40, 9) }
const ring = createKeyring({ dataKeys: [k1], codeSecrets: [c1] })
const rotated = createKeyring({ dataKeys: [k2, k1], codeSecrets: [c2, c1] })

describe('sealing', () => {
  it('unseals any text in its own context', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(text, text, (plain, context) => {
        const sealed = ring.seal(plain, context)
        expect(sealed).to.match(/^v1\.k1\.[A-Za-z0-9_-]+$/)
        expect(ring.unseal(sealed, context)).to.equal(plain)
      }),
    )
  })

  it('unseals a text that another program sealed: the format is fixed', () => {
    // Computed with Python's cryptography and an IV of zeros.
    const sealed = 'v1.k1.AAAAAAAAAAAAAAAA18HY6JRAs6YZoSvCZm1NZIwCRNumCPkQWQ'
    expect(ring.unseal(sealed, 'otp_1 salt')).to.equal('hello ✓')
  })

  it('never gives the same sealed text twice, nor shows any part of the text', () => {
    const sealed = Array.from({ length: 100 }, () => ring.seal('+447911123456', 'here'))
    expect(new Set(sealed)).to.have.property('size', 100)
    for (const text of sealed)
      expect(Buffer.from(text.split('.')[2] ?? '', 'base64url').includes('447911')).to.equal(false)
  })

  it('does not unseal in another context', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (here, there) => {
        fc.pre(here !== there)
        expect(() => ring.unseal(ring.seal('secret', here), there)).to.throw(Unsealable)
      }),
    )
  })

  it('does not unseal when any one character was changed, dropped or added', () => {
    const chars = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n']
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...chars), fc.constantFrom(0, 1), fc.boolean(), (where, char, cut, put) => {
        const sealed = ring.seal('secret', 'here')
        const at = where % (sealed.length + 1)
        const changed = sealed.slice(0, at) + (put ? char : '') + sealed.slice(at + cut)
        fc.pre(changed !== sealed)
        expect(() => ring.unseal(changed, 'here')).to.throw(Unsealable)
      }),
      { numRuns: propertyRuns(600) },
    )
  })

  it('does not unseal when any one bit of IV, ciphertext or tag was flipped', () => {
    const sealed = ring.seal('secret', 'here')
    const head = sealed.slice(0, 'v1.k1.'.length)
    const bytes = Buffer.from(sealed.slice(head.length), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(() => ring.unseal(head + flipped.toString('base64url'), 'here')).to.throw(Unsealable)
    }
  })

  it('does not unseal what has another form', () => {
    for (const text of ['', 'plain', 'v1.k1.', 'v2.k1.AAAA', 'v1.k1.AAAA', `v1.k1.${'A'.repeat(37)}`, 'v1..AAAA'])
      expect(() => ring.unseal(text, 'here'), text).to.throw(Unsealable)
  })

  it('says why it does not unseal, and nothing about the content', () => {
    const sealed = ring.seal('the plain secret', 'here')
    const other = createKeyring({ dataKeys: [k2], codeSecrets: [c1] })
    expect(() => other.unseal(sealed, 'here')).to.throw(Unsealable, 'no data key has the id "k1"')
    const renamed = createKeyring({ dataKeys: [{ id: 'k1', key: k2.key }], codeSecrets: [c1] })
    expect(() => renamed.unseal(sealed, 'here')).to.throw(Unsealable, /^tampered with, or sealed in another context$/)
  })
})

describe('rotating data keys', () => {
  it('unseals a text that an older key sealed, and seals with the current key', () => {
    const old = ring.seal('secret', 'here')
    expect(rotated.unseal(old, 'here')).to.equal('secret')
    expect(rotated.seal('secret', 'here')).to.match(/^v1\.k-2_B\./)
    expect(() => rotated.unseal(old.replace('.k1.', '.k-2_B.'), 'here'), 'another id').to.throw(Unsealable)
  })

  it('recognises texts that should be sealed again', () => {
    const old = ring.seal('secret', 'here')
    expect([ring.isCurrent(old), rotated.isCurrent(old), rotated.isCurrent(rotated.seal('x', 'y'))]).to.deep.equal([
      true,
      false,
      true,
    ])
    expect(() => ring.isCurrent('plain')).to.throw(Unsealable)
  })
})

describe('keyed indexes', () => {
  it('are fixed: stored documents are found by them', () => {
    // Computed with Python's hmac.
    expect(ring.index('app_demo recipient', '+447911123456')).to.equal('zkl2YkxLeHr7cogYKpmbAggMJuNT8aOVdwAaRLHz9y4')
  })

  it('differ by scope, by value and by key, and scope and value are not simply joined', () => {
    const all = [
      ring.index('app_a', 'x'),
      ring.index('app_b', 'x'),
      ring.index('app_a', 'y'),
      ring.index('app_ax', ''),
      ring.index('', 'app_ax'),
      rotated.index('app_a', 'x'),
    ]
    expect(new Set(all)).to.have.property('size', all.length)
  })

  it('are given for every key while keys rotate, the current one first', () => {
    expect(rotated.indexes('app_a', 'x')).to.deep.equal([rotated.index('app_a', 'x'), ring.index('app_a', 'x')])
    expect(ring.indexes('app_a', 'x')).to.deep.equal([ring.index('app_a', 'x')])
  })
})

describe('signatures', () => {
  it('differ by every text and by key, and the texts are not simply joined', () => {
    const all = [
      ring.signatures(['ab', 'c']),
      ring.signatures(['a', 'bc']),
      ring.signatures(['ab', 'd']),
      ring.signatures(['ab']),
      [ring.index('ab', 'c')],
    ].flat()
    expect(new Set(all)).to.have.property('size', all.length)
    expect(ring.signatures(['ab', 'c'])).to.deep.equal([all[0]])
  })

  it('are given for every key while keys rotate, the current one first', () => {
    const [current, former, ...more] = rotated.signatures(['a'])
    expect(more).to.deep.equal([])
    expect([former]).to.deep.equal(ring.signatures(['a']))
    expect(current).not.to.equal(former)
  })
})

describe('code secrets', () => {
  const of = { otpId: 'otp_01jz8x4q3k5m7n9p1r3t5v7w9y', generation: 1, salt: 'c2FsdA', length: 6 }
  const token = { otpId: of.otpId, generation: 1, keyId: 'key_a' }

  it('rotate while verifications run: a code stays the same under its own secret', () => {
    expect([ring.currentCodeSecret(), rotated.currentCodeSecret()]).to.deep.equal(['c1', 'c2'])
    expect(ring.code('c1', of)).to.equal('011773')
    expect(rotated.code('c1', of)).to.equal('011773')
    expect(rotated.code('c2', of)).not.to.equal('011773')
    expect(rotated.token('c1', token)).to.equal(ring.token('c1', token))
    expect(rotated.token('c2', token)).not.to.equal(ring.token('c1', token))
    expect(() => ring.code('c2', of)).to.throw(UnknownSecret, 'no code secret has the id "c2"')
    expect(() => ring.token('c2', token)).to.throw(UnknownSecret)
  })

  it('are not in the keyring of a process without them: it seals and indexes, and no code can be derived', () => {
    const withoutCodes = createKeyring({ dataKeys: [k1], codeSecrets: [] })
    expect(() => createKeyring({ dataKeys: [], codeSecrets: [c1] }), 'a data key is needed').to.throw(TypeError)
    expect(withoutCodes.unseal(ring.seal('x', 'here'), 'here')).to.equal('x')
    expect(withoutCodes.index('app_a', 'x')).to.equal(ring.index('app_a', 'x'))
    expect(() => withoutCodes.currentCodeSecret()).to.throw(NoCodeSecrets)
    expect(() => withoutCodes.code('c1', of)).to.throw(NoCodeSecrets)
    expect(() => withoutCodes.token('c1', token)).to.throw(NoCodeSecrets)
    expect(() => withoutCodes.mac('users', ['x'])).to.throw(NoCodeSecrets)
    expect(() => withoutCodes.makerOf(ring.mac('users', ['x']), 'users', ['x'])).to.throw(NoCodeSecrets)
  })

  it('make MACs of lists of texts for one purpose, and tell which of them made one', () => {
    const mac = ring.mac('users', ['a', 'b'])
    expect(mac).to.match(/^c1\.[\w-]{43}$/)
    expect(ring.makerOf(mac, 'users', ['a', 'b'])).to.equal('current')
    expect(rotated.makerOf(mac, 'users', ['a', 'b'])).to.equal('former')
    expect(ring.makerOf(rotated.mac('users', ['a', 'b']), 'users', ['a', 'b'])).to.equal('unknown_key')
    for (const [purpose, texts] of [
      ['sessions', ['a', 'b']],
      ['users', ['ab', '']],
      ['users', ['a']],
      ['users', ['b', 'a']],
    ] as const)
      expect(ring.makerOf(mac, purpose, texts), `${purpose} ${texts}`).to.equal('forged')
    for (const text of ['', 'c1', 'c1.', `${mac}x`, `${mac}.`])
      expect(ring.makerOf(text, 'users', ['a', 'b']), text).to.be.oneOf(['forged', 'unknown_key'])
  })

  it('missing in the whole process are a bug, not a key that may come back', () => {
    expect(isMissingKeyError(new UnknownSecret('c2'))).to.equal(true)
    expect(isMissingKeyError(new NoCodeSecrets())).to.equal(false)
  })
})

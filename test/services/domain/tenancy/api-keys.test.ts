import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { hashApiKey, kindAndModeOf, newApiKey } from '../../../../services/domain/tenancy/api-keys.ts'

describe('API keys', () => {
  it('have a prefix of kind and mode, and 32 random bytes', () => {
    const count = () => Buffer.from(Array.from({ length: 32 }, (_, at) => at))
    expect(newApiKey('server', 'live', count)).to.equal('sk_live_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf')
    expect(newApiKey('publishable', 'test', () => Buffer.alloc(32, 255))).to.equal(
      'pk_test_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1',
    )
  })

  it('always have the same length, and encode every byte', () => {
    const random = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(random, random, (a, b) => {
        const [one, other] = [a, b].map(from => newApiKey('server', 'test', () => from))
        expect(one).to.match(/^sk_test_[0-9A-Za-z]{43}$/)
        expect(one === other).to.equal(Buffer.from(a).equals(b))
      }),
    )
    expect(newApiKey('server', 'live')).not.to.equal(newApiKey('server', 'live'))
  })

  it('are recognised by their prefix', () => {
    for (const kind of ['server', 'publishable'] as const)
      for (const mode of ['live', 'test'] as const)
        expect(kindAndModeOf(newApiKey(kind, mode))).to.deep.equal({ kind, mode })
    expect(kindAndModeOf('sk_test_demo')).to.deep.equal({ kind: 'server', mode: 'test' })
  })

  for (const text of ['', 'sk_test', 'sk_prod_x', 'rk_live_x', 'SK_live_x', ' sk_live_x'])
    it(`have no such prefix in ${JSON.stringify(text)}`, () => expect(kindAndModeOf(text)).to.deep.equal({}))

  it('are stored as their SHA-256', () => {
    expect(hashApiKey('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

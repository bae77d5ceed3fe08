import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { stateForAudit, statesForAudit } from '../../../services/dashboard/audit-states.ts'

const digestOf = (text: string) => ({ length: text.length, sha256: createHash('sha256').update(text).digest('hex') })

describe('what an audit record keeps', () => {
  it('is what differs, at any depth', () => {
    const before = { name: 'Shop', settings: { code: { length: 6, ttl_seconds: 60 }, locale: 'de' }, closed_at: null }
    const after = { name: 'Shop', settings: { code: { length: 8, ttl_seconds: 60 }, list: [1] }, closed_at: null }
    expect(statesForAudit({ before, after })).to.deep.equal({
      before: { settings: { code: { length: 6 }, locale: 'de' } },
      after: { settings: { code: { length: 8 }, list: [1] } },
    })
    expect(statesForAudit({ before: null, after })).to.deep.equal({ before: null, after })
    expect(statesForAudit({ before, after: null })).to.deep.equal({ before, after: null })
  })

  it('of a list are the items that only one side has', () => {
    const price = (country: string, micros: number) => ({ country, micros })
    expect(
      statesForAudit({ before: [price('GB', 1), price('FR', 2)], after: [price('FR', 2), price('GB', 3)] }),
    ).to.deep.equal({ before: [price('GB', 1)], after: [price('GB', 3)] })
  })

  it('is the length and the digest of a long text', () => {
    const [short, long] = ['x'.repeat(1_024), 'x'.repeat(1_025)]
    expect(stateForAudit({ texts: [{ short, long }] })).to.deep.equal({ texts: [{ short, long: digestOf(long) }] })
  })

  it('is small, whatever there is, and keeps what is short', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`en-x-${at}`, { text: 'x'.repeat(40) }]))
    const some = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`en-x-${at}`, { text: 'x'.repeat(900) }]))
    const list = Array(20_000).fill('GB')
    const state = stateForAudit({ name: 'Shop', settings: { locale: 'fr', list, texts: { many, some } } })
    expect(JSON.stringify(state).length).to.be.below(20_000)
    expect(state).to.deep.include({ name: 'Shop' })
    expect(state).to.have.nested.property('settings.locale', 'fr')
    expect(state)
      .to.have.nested.property('settings.list')
      .that.deep.equals(digestOf(JSON.stringify(list)))
    expect(state)
      .to.have.nested.property('settings.texts.many')
      .that.deep.equals(digestOf(JSON.stringify(many)))
    expect(state).to.have.nested.property('settings.texts.some.en-x-0.text').that.is.an('object')
  })
})

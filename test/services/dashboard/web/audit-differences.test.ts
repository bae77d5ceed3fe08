// What a record of the audit log shows as changed.
import { expect } from 'chai'
import { differences, type Json } from '../../../../services/dashboard/web/screens/audit/differences.ts'

const shown = (before: Json | undefined, after: Json | undefined): [string, unknown, unknown][] =>
  differences(before, after).map(({ path, before: old, after: now }) => [path, old, now])

describe('the differences of two states', () => {
  it('are the changed paths, with both values', () => {
    const before = { name: 'Shop', settings: { code: { length: 6, ttl_seconds: 600 }, auto_fallback: false } }
    const after = { name: 'Shop', settings: { code: { length: 8, ttl_seconds: 600 }, auto_fallback: true } }
    expect(shown(before, after)).to.deep.equal([
      ['settings.code.length', 6, 8],
      ['settings.auto_fallback', false, true],
    ])
  })

  it('are every member of what was created or removed', () => {
    expect(shown(null, { name: 'Shop', mode: 'test' })).to.deep.equal([
      ['name', undefined, 'Shop'],
      ['mode', undefined, 'test'],
    ])
    expect(shown({ role: 'owner' }, null)).to.deep.equal([['role', 'owner', undefined]])
    expect(shown({}, { settings: { routing: { default: ['sms'] } } })).to.deep.equal([
      ['settings.routing.default', undefined, ['sms']],
    ])
  })

  it('tell null from nothing, and a new type from a new value', () => {
    expect(shown({ at: null }, { at: '2030' })).to.deep.equal([['at', null, '2030']])
    expect(shown({ at: 1 }, {})).to.deep.equal([['at', 1, undefined]])
    expect(shown({ a: 1 }, { a: '1' })).to.deep.equal([['a', 1, '1']])
    expect(shown({ a: {} }, { a: [] })).to.deep.equal([['a', {}, []]])
    expect(shown({}, { settings: {} })).to.deep.equal([['settings', undefined, {}]])
  })

  it('are none where only the order of members differs', () => {
    expect(shown({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).to.deep.equal([])
    expect(shown(null, null)).to.deep.equal([])
  })

  it('compare members of a list by their id or name', () => {
    const before = {
      keys: [
        { id: 'a', name: 'one' },
        { id: 'b', name: 'two' },
      ],
    }
    const after = {
      keys: [
        { id: 'b', name: 'second' },
        { id: 'c', name: 'three' },
      ],
    }
    expect(shown(before, after)).to.deep.equal([
      ['keys[a].id', 'a', undefined],
      ['keys[a].name', 'one', undefined],
      ['keys[b].name', 'two', 'second'],
      ['keys[c].id', undefined, 'c'],
      ['keys[c].name', undefined, 'three'],
    ])
  })

  it('leave equal members of a list without ids out, also those that stand twice', () => {
    const [gb, br, any] = [
      { country: 'GB', micros: 4 },
      { country: 'BR', micros: 5 },
      { micros: 9, country: '*' },
    ]
    expect(shown([gb, gb, any], [{ country: '*', micros: 9 }, gb, br])).to.deep.equal([
      ['[]', gb, undefined],
      ['[]', undefined, br],
    ])
    expect(shown([], [gb])).to.deep.equal([['[]', undefined, gb]])
    expect(shown(null, [])).to.deep.equal([['', null, []]])
    expect(shown(null, [gb])).to.deep.equal([['[]', undefined, gb]])
  })
})

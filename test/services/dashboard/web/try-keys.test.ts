import { expect } from 'chai'
import { findReplacedKeys } from '../../../../services/dashboard/web/screens/try/replaced-keys.ts'

const key = (changes: Partial<Parameters<typeof findReplacedKeys>[0][number]>) => ({
  id: 'key_a',
  app_id: 'app_a',
  kind: 'server' as const,
  mode: 'test' as const,
  name: 'Try it',
  last4: 'abcd',
  created_at: '2030-01-08T12:00:00.000Z',
  last_used_at: null,
  revoked_at: null,
  ...changes,
})

const MADE = { id: 'key_made', kind: 'server' as const }

const isReplaced = (changes: Parameters<typeof key>[0], isOwn = true): boolean =>
  findReplacedKeys([key(changes)], MADE, () => isOwn).length === 1

describe('the keys of Try it that a new one replaces', () => {
  it('are the earlier ones of its kind', () => {
    expect(isReplaced({})).to.equal(true)
    expect(isReplaced({ kind: 'publishable' })).to.equal(false)
    expect(isReplaced({ id: MADE.id })).to.equal(false)
  })

  it('are never those of another name or mode, nor revoked ones', () => {
    expect(isReplaced({ name: 'Backend' })).to.equal(false)
    expect(isReplaced({ name: null })).to.equal(false)
    expect(isReplaced({ mode: 'live' })).to.equal(false)
    expect(isReplaced({ revoked_at: '2030-01-08T12:00:00.000Z' })).to.equal(false)
  })
})

import { expect } from 'chai'
import { findAbandonedKeys } from '../../../../services/dashboard/web/screens/try/abandoned-keys.ts'

const NOW = Date.parse('2030-01-10T12:00:00Z')
const LONG_AGO = '2030-01-08T12:00:00.000Z'
const RECENT = '2030-01-10T11:00:00.000Z'

const key = (changes: Partial<Parameters<typeof findAbandonedKeys>[0][number]>) => ({
  id: 'key_a',
  app_id: 'app_a',
  kind: 'server' as const,
  mode: 'test' as const,
  name: 'Try it',
  last4: 'abcd',
  created_at: LONG_AGO,
  last_used_at: null,
  revoked_at: null,
  ...changes,
})

const isAbandoned = (changes: Parameters<typeof key>[0], isOwn = true): boolean =>
  findAbandonedKeys([key(changes)], () => isOwn, NOW).length === 1

describe('the keys of Try it that are no longer used', () => {
  it('are those made and last used more than a day ago', () => {
    expect(isAbandoned({})).to.equal(true)
    expect(isAbandoned({ last_used_at: LONG_AGO })).to.equal(true)
    expect(isAbandoned({ last_used_at: RECENT }), 'in use').to.equal(false)
    expect(isAbandoned({ created_at: RECENT }), 'just made').to.equal(false)
  })

  it('are never those that this browser has not made', () => {
    expect(isAbandoned({}, false)).to.equal(false)
  })

  it('are never those of another name or mode, nor revoked ones', () => {
    expect(isAbandoned({ name: 'Backend' })).to.equal(false)
    expect(isAbandoned({ name: null })).to.equal(false)
    expect(isAbandoned({ mode: 'live' })).to.equal(false)
    expect(isAbandoned({ revoked_at: LONG_AGO })).to.equal(false)
  })
})

import { join } from 'node:path'
import { expect } from 'chai'
import { openSqlite, type Sqlite } from '../../../infra/store/embedded/sqlite.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const ECHO = 'SELECT ? AS first, 2 AS second'

describe('SQLite behind the embedded store', () => {
  let sqlite: Sqlite
  beforeEach(() => {
    sqlite = openSqlite(join(createTemporaryFolder(), 'data'))
  })
  afterEach(() => sqlite.close())

  it('answers a value for its own parameters, in any order of `value` and `column` of one statement', () => {
    expect(sqlite.column(ECHO, ['a'])).to.deep.equal(['a'])
    expect(sqlite.value(ECHO, ['b'])).to.equal('b')
    expect(sqlite.value(ECHO, ['c'])).to.equal('c')
    expect(sqlite.column(ECHO, ['d'])).to.deep.equal(['d'])
    expect(sqlite.value(ECHO, ['e'])).to.equal('e')
    const found = 'SELECT value FROM json_each(?)'
    expect(['[]', '[7, 8]', '[9]'].map(list => sqlite.value(found, [list]))).to.deep.equal([undefined, 7, 9])
  })

  it('answers the next value after one that failed', () => {
    const parse = "SELECT json_extract(?, '$.a')"
    expect(sqlite.value(parse, ['{"a":1}'])).to.equal(1)
    expect(() => sqlite.value(parse, ['no JSON'])).to.throw('malformed JSON')
    expect(sqlite.value(parse, ['{"a":2}'])).to.equal(2)
    expect(sqlite.column(parse, ['{"a":3}'])).to.deep.equal([3])
  })

  it('does not leave a read open: the log can be emptied after a value', () => {
    sqlite.run('CREATE TABLE t (n)')
    for (const n of [1, 2, 3]) sqlite.run('INSERT INTO t VALUES (?)', [n])
    expect(sqlite.value('SELECT n FROM t ORDER BY n')).to.equal(1)
    expect(sqlite.value('PRAGMA wal_checkpoint(TRUNCATE)')).to.equal(0)
    sqlite.run('DROP TABLE t')
  })
})

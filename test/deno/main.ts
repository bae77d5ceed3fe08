// Runs flow tests under Deno: mocha as a library, because its command needs what Deno's `node:util` lacks. In: test files as they stand in
// the repository; without any, all flow tests. Out: mocha's output, and the summary that CI adds up.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import Mocha from 'mocha'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { compiledFile } from '../support/compiled.ts'
import { dropDatabasesOfRun } from '../support/databases.ts'
import { MONGODB_URL } from '../support/engines.ts'
import Reporter from '../support/reporter.ts'

const FLOW = 'test/flow'
const DATABASE_PREFIX = `test_${process.pid}_`
process.env.DATABASE_PREFIX = DATABASE_PREFIX

const given = process.argv.slice(2)
const files =
  given.length > 0
    ? given
    : readdirSync(join(PROJECT_ROOT, FLOW))
        .sort()
        .map(name => `${FLOW}/${name}`)
const { timeout } = JSON.parse(readFileSync(join(PROJECT_ROOT, '.mocharc.json'), 'utf8'))
const mocha = new Mocha({ reporter: Reporter, timeout })
for (const file of files) mocha.addFile(join(PROJECT_ROOT, compiledFile(file)))
await mocha.loadFilesAsync()
mocha.run(async failures => {
  if (MONGODB_URL) await dropDatabasesOfRun(DATABASE_PREFIX).catch(() => {})
  process.exit(failures === 0 ? 0 : 1)
})

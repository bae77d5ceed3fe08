// Writes the tables of docs/ that follow from declarations. test/docs/references.test.ts says when one is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { withSettingsTable } from './settings-table.ts'

const file = join(PROJECT_ROOT, 'docs/settings.md')
writeFileSync(file, withSettingsTable(readFileSync(file, 'utf8')))

// The tables and pages of docs/ that follow from declarations: this program writes them. test/docs/references.test.ts says when one is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { WRITTEN_PAGES } from './written-pages.ts'

for (const [page, written] of Object.entries(WRITTEN_PAGES)) {
  const file = join(PROJECT_ROOT, page)
  writeFileSync(file, written(readFileSync(file, 'utf8')))
}

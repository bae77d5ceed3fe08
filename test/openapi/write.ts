// Writes docs/openapi.json, from which clients are generated without a running server. test/docs/openapi.test.ts keeps it true.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { createFileDocument } from './document.ts'

const file = join(PROJECT_ROOT, 'docs/openapi.json')
writeFileSync(file, `${JSON.stringify(createFileDocument(), null, 2)}\n`)

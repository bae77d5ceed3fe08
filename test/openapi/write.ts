// Writes docs/openapi.json, from which clients are generated without a running server. test/docs/openapi.test.ts keeps it true.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createFileDocument } from './document.ts'

const file = resolve(import.meta.dirname, '../../docs/openapi.json')
writeFileSync(file, `${JSON.stringify(createFileDocument(), null, 2)}\n`)

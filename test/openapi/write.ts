// Writes docs/openapi.json and docs/openapi-twilio.json, from which clients are generated without a running server.
// test/docs/openapi.test.ts keeps it true.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenApiDocument } from '../../infra/openapi/document.ts'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { createFileDocument, createTwilioFileDocument } from './document.ts'

const write = (file: string, document: OpenApiDocument): void =>
  writeFileSync(join(PROJECT_ROOT, 'docs', file), `${JSON.stringify(document, null, 2)}\n`)

write('openapi.json', createFileDocument())
write('openapi-twilio.json', createTwilioFileDocument())

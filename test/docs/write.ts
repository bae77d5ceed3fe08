// Writes the tables and pages of docs/ that follow from declarations. test/docs/references.test.ts says when one is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { withElementHash } from './element-hash.ts'
import { withPrivacyTable } from './privacy-table.ts'
import { PROVIDERS_PAGE, providersPage } from './provider-pages.ts'
import { withSettingsTable } from './settings-table.ts'
import { withSizingTables } from './sizing-tables.ts'
import { withStepUpList } from './step-up-list.ts'

const settings = join(PROJECT_ROOT, 'docs/settings.md')
writeFileSync(settings, withSettingsTable(readFileSync(settings, 'utf8')))
const clients = join(PROJECT_ROOT, 'docs/clients.md')
writeFileSync(clients, withElementHash(readFileSync(clients, 'utf8')))
const adminApi = join(PROJECT_ROOT, 'docs/admin-api.md')
writeFileSync(adminApi, withStepUpList(readFileSync(adminApi, 'utf8')))
const privacy = join(PROJECT_ROOT, 'docs/privacy.md')
writeFileSync(privacy, withPrivacyTable(readFileSync(privacy, 'utf8')))
writeFileSync(PROVIDERS_PAGE, providersPage())
const sizing = join(PROJECT_ROOT, 'docs/operations/sizing.md')
writeFileSync(sizing, withSizingTables(readFileSync(sizing, 'utf8')))

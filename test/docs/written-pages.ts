// The pages of docs/ of which a part follows from declarations. In: a page. Out: the page as it must be.
import { withElementHash } from './element-hash.ts'
import { withPrivacyTable } from './privacy-table.ts'
import { withProviderTypes } from './provider-pages.ts'
import { withSettingsTable } from './settings-table.ts'
import { withSizingTables } from './sizing-tables.ts'
import { withStepUpList } from './step-up-list.ts'

export const WRITTEN_PAGES: Record<string, (page: string) => string> = {
  'docs/settings.md': withSettingsTable,
  'docs/clients.md': withElementHash,
  'docs/admin-api.md': withStepUpList,
  'docs/privacy.md': withPrivacyTable,
  'docs/providers.md': withProviderTypes,
  'docs/operations/sizing.md': withSizingTables,
}

// Writes the parts of the pages in docs/ that are made from declarations. test/docs/references.test.ts keeps them true.
import { writeFileSync } from 'node:fs'
import { PROVIDERS_PAGE, providersPage } from './provider-pages.ts'

writeFileSync(PROVIDERS_PAGE, providersPage())

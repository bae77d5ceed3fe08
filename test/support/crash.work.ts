// The work that crash.child.ts does and crash.test.ts counts: five companies, each a message, a document, or both.
import { openAccount } from '../../services/domain/money/batches.ts'
import type { Company } from '../../services/domain/tenancy/documents.ts'

export const COMPANY_IDS = ['cmp_1', 'cmp_2', 'cmp_3', 'cmp_4', 'cmp_5']
export const QUEUE = 'webhook.deliver'
/** One message at a time, so that a test knows exactly which messages were settled before the crash. */
export const ONE_BY_ONE = { prefetch: 1, batch: 1, parallel: 1 }

export const company = (id: string): Company => ({
  _id: id,
  rev: 1,
  name: id,
  ...openAccount(id, 0, 0),
  created_at: 0,
})

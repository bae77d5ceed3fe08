// The work that crash.child.ts does and crash.test.ts counts: five pieces, each a message, a document, or both.
import type { Company } from '../../services/domain/tenancy/documents.ts'

export const COMPANY_IDS = ['cmp_1', 'cmp_2', 'cmp_3', 'cmp_4', 'cmp_5']
export const QUEUE = 'webhook.deliver'
/** So that what was settled before the crash is known to the message. */
export const ONE_BY_ONE = { prefetch: 1, batch: 1, parallel: 1 }

export const company = (id: string): Company => ({ _id: id, rev: 1, name: id, balance: 0, created_at: 0 })

// Privacy and the audit log in the OpenAPI document.
import { type AuditRecordAnswer, auditPage } from '../audit.schemas.ts'
import { eraseBody } from '../privacy/routes.ts'
import { type ErasureAnswer, erasure, privacy } from '../privacy/schemas.ts'
import { adminOperation, ok, PAGE, query } from './admin-operation.ts'

const eraseRequest = eraseBody.meta({ id: 'EraseRecipientRequest', description: 'The recipient to erase.' })

const erasureExample: ErasureAnswer = {
  verifications: 3,
  ended: 1,
  attempts: 4,
  messages: 0,
  events: 2,
  counters: 5,
  refusals: 0,
  decisions: 0,
  idempotency_keys: 1,
  blocks: 0,
}

const auditExample: AuditRecordAnswer = {
  id: 'aud_01k2m8x4e9s7v3hqz5tnw6yb0c',
  at: '2030-01-01T12:00:00.000Z',
  who: 'ann',
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  action: 'company.create',
  target: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  before: null,
  after: { name: 'Acme' },
  outcome: 'done',
}

export const privacyOperations = [
  adminOperation({
    id: 'eraseRecipient',
    route: ['post', '/apps/{id}/erase'],
    summary: 'Erase a recipient',
    description: 'All data of one recipient in an app, in both modes. Safe to repeat.',
    request: { schema: eraseRequest, example: { recipient: '+447911123456' } },
    answers: [ok(erasure, 'How many of each were erased.', erasureExample)],
  }),
  adminOperation({
    id: 'getPrivacyState',
    route: ['get', '/privacy'],
    summary: 'Look the data keys up',
    description: 'The ids of the data keys, and the progress of their rotation.',
    answers: [ok(privacy, 'The data keys.', { data_keys: ['k1'], rotation: null })],
  }),
  adminOperation({
    id: 'listAuditRecords',
    route: ['get', '/audit'],
    summary: 'Read the audit log',
    description: 'Every change through this API, newest first.',
    parameters: [...PAGE, query('company_id', 'Only changes of this company.')],
    answers: [ok(auditPage, 'A page of records.', { items: [auditExample], next_cursor: null })],
  }),
]

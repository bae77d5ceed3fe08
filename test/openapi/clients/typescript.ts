// Compiled, never run: a program against the types that openapi-typescript makes. A line that must not compile says so.
import type { components, operations, paths, webhooks } from './generated.ts'

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never
type SendRequest = Json<operations['send']['requestBody']>
type Verification = Json<operations['send']['responses'][200]>
type Problem = components['schemas']['Problem']
type CompanyPage = Json<paths['/admin/v1/companies']['get']['responses'][200]>

export const request: SendRequest = { recipient: '+447911123456', locale: null }
export const verification = (answer: Verification): string =>
  `${answer.otp_id} ${answer.status satisfies 'pending' | 'approved' | 'failed' | 'expired' | 'canceled'}`
export const problem = ({ type, errors = [] }: Problem): string[] => [
  type,
  ...errors.map(({ path, message }) => `${path} ${message}`),
]
export const balances = ({ items }: CompanyPage): number[] => items.map(({ balance }) => balance)
export const filters: NonNullable<operations['searchVerifications']['parameters']['query']> = {
  status: 'failed',
  limit: 10,
}
export const approved: NonNullable<Json<webhooks['otp.approved']['post']['requestBody']>> = {
  id: 'evt_1',
  type: 'otp.approved',
  payload: { otp_id: 'otp_1', status: 'approved' },
}
export const patch: Json<operations['changeApp']['requestBody']> = { settings: { code: { length: 8 }, limits: null } }

// @ts-expect-error a recipient is text
export const wrongRecipient: SendRequest = { recipient: 42 }
// @ts-expect-error a recipient is required
export const noRecipient: SendRequest = {}
// @ts-expect-error routing chooses the channel of a send
export const phantomChannel: SendRequest = { recipient: '+447911123456', channel: 'sms' }
// @ts-expect-error there is no such state
export const wrongStatus: Verification['status'] = 'done'
// @ts-expect-error there is no such filter
export const wrongFilter: typeof filters = { state: 'failed' }
// @ts-expect-error an event has the payload of its type
export const wrongPayload: typeof approved = { id: 'evt_1', type: 'otp.approved', payload: { app_id: 'app_1' } }

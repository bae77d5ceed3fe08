// Address lists in the OpenAPI document.
import { addressListsBody } from '../address-lists/body.ts'
import { type AddressListAnswer, addressListPage } from '../address-lists/schemas.ts'
import { adminOperation, conflict, ok } from './admin-operation.ts'

const putRequest = addressListsBody.meta({ id: 'PutAddressListsRequest', description: 'All lists.' })

const example: AddressListAnswer = {
  class: 'vpn',
  name: 'default',
  source: { kind: 'url', url: 'https://lists.example/vpn.txt' },
  refresh_seconds: 86_400,
  version: '01k2m8x4e9s7v3hqz5tnw6yb0c',
  ranges: 8_912,
  ignored: 3,
  bad: 0,
  bad_lines: [],
  refreshed_at: '2030-01-01T12:00:00.000Z',
  status: 'ready',
  progress: null,
  problem: null,
}

export const addressListOperations = [
  adminOperation({
    id: 'listAddressLists',
    route: ['get', '/ip-lists'],
    summary: 'List the address lists',
    description: 'All of them in one page, with the progress of imports.',
    answers: [ok(addressListPage, 'The lists.', { items: [example], next_cursor: null })],
  }),
  adminOperation({
    id: 'replaceAddressLists',
    route: ['put', '/ip-lists'],
    summary: 'Replace all address lists',
    description:
      'A list that is not named is removed, and one that is named without a source stays as it is. Content is imported after the answer.',
    request: {
      schema: putRequest,
      example: { lists: [{ class: 'abusive', name: 'own', cidrs: ['45.95.147.0/24'] }] },
    },
    answers: [ok(addressListPage, 'All lists as they are now.', { items: [example], next_cursor: null })],
    refusals: [conflict('Another PUT of all lists takes more than 10 s.')],
  }),
]

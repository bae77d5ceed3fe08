// An address list as the admin API answers it.
import { z } from 'zod'
import { ADDRESS_CLASSES, type ListSource, type ListStatus } from '../../domain/address-lists/documents.ts'
import { enumOf, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { pageOf } from '../page-schema.ts'

export const addressClass = z
  .enum(ADDRESS_CLASSES)
  .meta({ id: 'AddressClass', description: 'What the addresses of a list are.' })

const sourceKind = enumOf<ListSource['kind']>({ bootstrap: true, given: true, url: true }).meta({
  id: 'AddressListSourceKind',
  description: '`bootstrap`: the bootstrap file. `given`: a PUT. `url`: fetched.',
})

const source = z
  .object({
    kind: sourceKind,
    url: z.string().optional().meta({ description: 'Without its query, which may hold a key.' }),
  })
  .meta({ id: 'AddressListSource', description: 'Where the ranges of a list come from.' })

const status = enumOf<ListStatus>({ waiting: true, importing: true, ready: true, failed: true }).meta({
  id: 'AddressListStatus',
  description: '`failed`: the latest import failed, and the version before it stays current.',
})

const progress = z
  .object({
    lines: z.int().meta({ description: 'Lines read.' }),
    bytes: z.int().meta({ description: 'Bytes read.' }),
    total_bytes: z.int().nullable().meta({ description: 'Null until the content was fetched.' }),
  })
  .meta({ id: 'ImportProgress', description: 'A running import.' })

export const addressList = z
  .object({
    class: addressClass,
    name: z.string().meta({ description: 'Unique within its class.' }),
    source,
    refresh_seconds: z.int().nullable().meta({ description: 'How often its URL is fetched.' }),
    version: z.string().nullable().meta({ description: 'The current version; null before the first import.' }),
    ranges: z.int().meta({ description: 'Ranges in the current version.' }),
    ignored: z.int().meta({ description: 'Private and reserved ranges, which are left out.' }),
    bad: z.int().meta({ description: 'Lines that are not a range.' }),
    bad_lines: z.array(z.int()).meta({ description: 'The line numbers of the first of them.' }),
    refreshed_at: timeSchema('When it was imported or last found unchanged.').nullable(),
    status,
    progress: progress.nullable().meta({ description: 'Null unless an import is running.' }),
    problem: z.string().nullable().meta({ description: 'Why the latest import failed.' }),
  })
  .meta({ id: 'AddressList', description: 'A list of client addresses of one class.' })

export const addressListPage = pageOf('AddressListPage', addressList)

export type AddressListAnswer = z.output<typeof addressList>

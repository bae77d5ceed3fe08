// The body of PUT /ip-lists: all lists, and for each the source of its ranges.
import { z } from 'zod'
import { canonicalCidr } from '../../domain/address-lists/cidr.ts'
import { BOOTSTRAP_LIST_NAME, listId, MAX_LISTS } from '../../domain/address-lists/documents.ts'
import { MAX_LIST_BYTES } from '../../domain/address-lists/imports.ts'
import { webAddress } from '../../domain/tenancy/value-schemas.ts'
import { addressClass } from './schemas.ts'

/** The largest text, and a quarter more for its JSON encoding, in which the end of a line takes two characters. */
export const MAX_BODY_BYTES = MAX_LIST_BYTES + MAX_LIST_BYTES / 4
const MAX_CIDRS = 10_000
/** The members of a list are few beside its ranges. */
export const MAX_BODY_VALUES = MAX_LISTS * (MAX_CIDRS + 100)
/** More would only lengthen the answer. */
const MAX_REPORTED_PROBLEMS = 20
const [MIN_REFRESH_SECONDS, MAX_REFRESH_SECONDS] = [60, 30 * 86_400]

const RANGE_MESSAGE = 'must be an address range, such as "45.95.147.0/24"'

const cidrs = z
  .array(z.string())
  .max(MAX_CIDRS, `must be at most ${MAX_CIDRS} ranges; give more of them as a text`)
  .superRefine((given, ctx) => {
    const badPositions = given.flatMap((cidr, at) => (canonicalCidr(cidr) === null ? [at] : []))
    for (const at of badPositions.slice(0, MAX_REPORTED_PROBLEMS))
      ctx.addIssue({ code: 'custom', path: [at], message: RANGE_MESSAGE })
  })

const list = z
  .strictObject({
    class: addressClass,
    /** Unique within its class. */
    name: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9._-]{0,62}$/,
        'must be 1 to 63 of a–z, 0–9, ".", "-" and "_", the first a letter or digit',
      )
      .refine(name => name !== BOOTSTRAP_LIST_NAME, 'is the name of the lists of the bootstrap file')
      .default('default'),
    cidrs: cidrs.optional(),
    text: z
      .string()
      .refine(text => text.length <= MAX_LIST_BYTES, `must have at most ${MAX_LIST_BYTES} bytes`)
      .optional(),
    url: webAddress.optional(),
    /** Whether it is meant that the list holds more than half of all addresses. */
    confirm: z.boolean().optional(),
    refresh_seconds: z.int().min(MIN_REFRESH_SECONDS).max(MAX_REFRESH_SECONDS).nullable().optional(),
  })
  .refine(({ cidrs, text, url }) => [cidrs, text, url].filter(one => one !== undefined).length <= 1, {
    message: 'takes one of cidrs, text and url',
  })
  .refine(({ cidrs, text, refresh_seconds }) => (cidrs ?? text) === undefined || typeof refresh_seconds !== 'number', {
    path: ['refresh_seconds'],
    message: 'is for a list with a url',
  })
  .refine(({ cidrs, text, confirm }) => (cidrs ?? text) !== undefined || confirm === undefined, {
    path: ['confirm'],
    message: 'is for a list with cidrs or text',
  })
  .meta({
    id: 'AddressListInput',
    description: 'A list, and one source of its ranges. Without a source it stays as it is.',
  })

export const addressListsBody = z
  .strictObject({
    lists: z
      .array(list)
      .max(MAX_LISTS)
      .superRefine((lists, ctx) => {
        const seen = new Set<string>()
        for (const [at, one] of lists.entries()) {
          const id = listId(one.class, one.name)
          if (seen.has(id))
            ctx.addIssue({ code: 'custom', path: [at, 'name'], message: 'repeats the name of another list' })
          seen.add(id)
        }
      }),
  })
  .meta({ id: 'PutAddressListsRequest', description: 'All lists.' })

export type ListInput = z.output<typeof list>

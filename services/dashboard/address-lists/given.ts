// What a PUT of /ip-lists may say: which lists there are, and of each where its ranges come from.
import { z } from 'zod'
import { canonicalCidr } from '../../domain/address-lists/cidr.ts'
import { BOOTSTRAP, IP_CLASSES, MOST_LISTS } from '../../domain/address-lists/documents.ts'
import { MAX_LIST_BYTES } from '../../domain/address-lists/imports.ts'
import { webAddress } from '../../domain/tenancy/shapes.ts'

/** The largest text, and what JSON adds to it: a line's end is two characters. */
export const LARGEST_BODY = MAX_LIST_BYTES + MAX_LIST_BYTES / 4
const MOST_CIDRS = 10_000
/** Nobody reads more of them. */
const MOST_PROBLEMS = 20
const [SHORTEST_REFRESH, LONGEST_REFRESH] = [60, 30 * 86_400]

const RANGE = 'must be an address range, such as "45.95.147.0/24"'

const cidrs = z
  .array(z.string())
  .max(MOST_CIDRS, `must be at most ${MOST_CIDRS} ranges; give more of them as a text`)
  .superRefine((given, ctx) => {
    const wrong = given.flatMap((cidr, at) => (canonicalCidr(cidr) === null ? [at] : []))
    for (const at of wrong.slice(0, MOST_PROBLEMS)) ctx.addIssue({ code: 'custom', path: [at], message: RANGE })
  })

const list = z
  .strictObject({
    class: z.enum(IP_CLASSES),
    /** Lists of one class are told apart by it. */
    name: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9._-]{0,62}$/,
        'must be 1 to 63 of a–z, 0–9, ".", "-" and "_", the first a letter or digit',
      )
      .refine(name => name !== BOOTSTRAP, 'is the name of the lists of the bootstrap file')
      .default('default'),
    cidrs: cidrs.optional(),
    text: z
      .string()
      .refine(text => text.length <= MAX_LIST_BYTES, `must have at most ${MAX_LIST_BYTES} bytes`)
      .optional(),
    url: webAddress.optional(),
    refresh_seconds: z.int().min(SHORTEST_REFRESH).max(LONGEST_REFRESH).nullable().optional(),
  })
  .refine(({ cidrs, text, url }) => [cidrs, text, url].filter(one => one !== undefined).length <= 1, {
    message: 'takes one of cidrs, text and url',
  })
  .refine(({ cidrs, text, refresh_seconds }) => (cidrs ?? text) === undefined || typeof refresh_seconds !== 'number', {
    path: ['refresh_seconds'],
    message: 'is for a list with a url',
  })

export const givenLists = z.strictObject({
  lists: z
    .array(list)
    .max(MOST_LISTS)
    .superRefine((lists, ctx) => {
      const seen = new Set<string>()
      for (const [at, one] of lists.entries()) {
        const id = `${one.class}:${one.name}`
        if (seen.has(id))
          ctx.addIssue({ code: 'custom', path: [at, 'name'], message: 'is the name of another of them' })
        seen.add(id)
      }
    }),
})

export type GivenList = z.output<typeof list>

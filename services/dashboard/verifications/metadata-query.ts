// The filter of a list by one value of metadata: `metadata.<name>=<value>`. In: a query. Out: the name and the value.
import { z } from 'zod'
import type { ApiParameter } from '../../../infra/openapi/operation.ts'
import { METADATA_NAME } from '../../domain/verifications/metadata.ts'

const PREFIX = 'metadata.'

export interface MetadataFilter {
  name: string
  value: string
}

/** In the way of OpenAPI: each member of the object is a parameter of its own. */
export const METADATA_PARAMETER: ApiParameter = {
  name: 'metadata',
  in: 'query',
  schema: z.record(z.string(), z.string()),
  description:
    'Only verifications whose metadata has this value: `metadata.<name>=<value>`. One name at most; the whole value, in its case.',
  example: { 'metadata.order': 'A-1042' },
}

/** A strict query of these members, which takes one `metadata.<name>` too. */
export const queryWithMetadata = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .object(shape)
    .catchall(z.unknown())
    .check(({ value, issues }) => {
      const others = Object.keys(value).filter(name => !Object.hasOwn(shape, name))
      const unknown = others.filter(name => !isMetadata(name))
      if (unknown.length > 0) issues.push({ code: 'unrecognized_keys', keys: unknown, input: value })
      const given = others.filter(isMetadata)
      if (given.length > 1)
        issues.push({
          code: 'custom',
          path: given.slice(1, 2),
          message: 'cannot be given beside another',
          input: value,
        })
      for (const name of given)
        if (typeof value[name] !== 'string')
          issues.push({ code: 'custom', path: [name], message: 'must be given once', input: value })
    })

const isMetadata = (name: string): boolean => name.startsWith(PREFIX) && METADATA_NAME.test(name.slice(PREFIX.length))

export function metadataFilterIn(query: Readonly<Record<string, unknown>>): MetadataFilter | undefined {
  const [given] = Object.entries(query).filter(([name]) => isMetadata(name))
  return given && { name: given[0].slice(PREFIX.length), value: String(given[1]) }
}

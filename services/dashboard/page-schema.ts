// The schema of a page of a list. The views of the items are typed by the same schemas, so the OpenAPI document says what is answered.
import { z } from 'zod'

export const nextCursor = z.string().nullable().meta({
  description: 'The `cursor` of the next page; null on the last one.',
})

export const pageOf = <Item extends z.ZodType>(id: string, item: Item) =>
  z
    .object({ items: z.array(item).meta({ description: 'The items of this page.' }), next_cursor: nextCursor })
    .meta({ id, description: 'A page of a list.' })

export type Page<Item extends z.ZodType> = ReturnType<typeof pageOf<Item>>

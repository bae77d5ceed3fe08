// Reads every matching document, in the order of ids and a page at a time, so that a large collection is never in memory as a whole.
// `from`: only those whose ids sort after it.
import type { Doc, Docs, Filter, Sort } from './docs.ts'

const PAGE_SIZE = 500

export async function* scanAll<T extends Doc>(
  docs: Pick<Docs<T>, 'find'>,
  filter: Filter<T> = {} as Filter<T>,
  from = '',
): AsyncGenerator<T> {
  for (let after = from; ; ) {
    const rest = { ...filter, _id: { $gt: after } } as Filter<T>
    const page = await docs.find(rest, { sort: { _id: 1 } as Sort<T>, limit: PAGE_SIZE })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_SIZE) return
    after = last._id
  }
}

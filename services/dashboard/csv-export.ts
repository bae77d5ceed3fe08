// A list as a CSV file. In: the schema of a list's page, and a function that reads a page. Out: a stream of lines,
// newest first as in the list. A page is read when the client has taken the one before, and none once the client is
// gone: an export of any length needs the memory of a page. What a cell shows is what the list shows, because it is
// read by the list itself.
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from 'koa'
import { z } from 'zod'
import { CSV_TYPE, csvLine, MORE_ROWS } from '../../infra/csv.ts'
import { isoTime } from '../../infra/iso-time.ts'
import type { ApiAnswer } from '../../infra/openapi/operation.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { principalOf } from './access.ts'
import type { AdminDeps } from './admin-deps.ts'
import { MAX_PAGE_SIZE, type PageOptions } from './pages.ts'

export const MAX_CSV_ROWS = 100_000

interface ListPage {
  items: readonly object[]
  next_cursor: string | null
}

export type ReadListPage = (page: PageOptions) => Promise<ListPage>

export interface CsvExport {
  /** Names the file and, in the audit log, the list. */
  list: string
  /** The schema of an item, which is a line of the file. */
  items: z.ZodObject
  readPage: ReadListPage
  /** What the path names, an app or a company; absent where the list is of all that the caller may see. */
  owner?: { _id: string; company_id?: string } | undefined
  query: PageOptions & { app_id?: string; company_id?: string }
}

const csvFile = z.string().meta({
  id: 'CsvFile',
  description: `A line of names, then a line for each item, newest first (RFC 4180, UTF-8). A member of a member is a column (\`started_by.kind\`), a list or a map is JSON. A text that begins like a formula, at its start or after a semicolon, a tab or a line break, has an apostrophe there. Where rows are left out, the last line begins with \`${MORE_ROWS}\`, and the cell after it has the \`cursor\` of the next file.`,
})

/** For the OpenAPI document: an answer that is a page, and its example as a file. */
export const documentCsv = (answer: ApiAnswer, lines: string): ApiAnswer => {
  if (answer.schema === null) return answer
  const columns = columnsOf(linesSchema(answer.schema as z.ZodObject, lines))
  const items = (answer.examples.example as Record<string, readonly object[]>)[lines] ?? []
  const example = [headLine(columns), ...items.map(item => itemLine(columns, item))].join('')
  return { ...answer, otherForms: { [CSV_TYPE]: { schema: csvFile, example } } }
}

export const CSV_SENTENCE = `\`Accept: ${CSV_TYPE}\` answers a file, with ${MAX_CSV_ROWS.toLocaleString('en')} rows at most unless \`limit\` says fewer.`

export function wantsCsv(ctx: Context): boolean {
  ctx.vary('Accept')
  return ctx.accepts('json', CSV_TYPE) === CSV_TYPE
}

/** The first page is read before anything is answered, so that a refusal is answered as one. An error after it ends the
 *  connection before the end of the file: the client knows that the file is not complete. */
export async function answerCsv(
  ctx: Context,
  exported: CsvExport,
  { clock, ...deps }: Pick<AdminDeps, 'clock' | 'withAudit' | 'store'>,
): Promise<void> {
  const { list, items, readPage, query } = exported
  const maxRows = ctx.query.limit === undefined ? MAX_CSV_ROWS : query.limit
  const first = await readPage({ cursor: query.cursor, limit: Math.min(maxRows, MAX_PAGE_SIZE) })
  await recordExport(ctx, exported, deps)
  ctx.attachment(`${list}-${isoTime(clock.now()).slice(0, 10)}.csv`)
  ctx.type = CSV_TYPE
  ctx.body = Readable.from(csvLines(columnsOf(items), first, readPage, maxRows), { objectMode: false })
}

/** `first`: the page that is read already. */
export async function* csvLines(
  columns: readonly Column[],
  first: ListPage,
  readPage: ReadListPage,
  maxRows = MAX_CSV_ROWS,
): AsyncGenerator<string> {
  yield headLine(columns)
  let page = first
  for (let rows = page.items.length; ; rows += page.items.length) {
    if (page.items.length > 0) yield page.items.map(item => itemLine(columns, item)).join('')
    const { next_cursor: cursor } = page
    if (cursor === null) return
    if (rows >= maxRows) return yield csvLine([MORE_ROWS, cursor, ...columns.slice(2).map(() => '')])
    // Other requests have their turn before the next page.
    await nextTurn()
    page = await readPage({ cursor, limit: Math.min(maxRows - rows, MAX_PAGE_SIZE) })
  }
}

/** Names of members, from the item inwards. */
type Column = readonly string[]

/** The schema of a line, of an answer that has the lines in this member. */
export const linesSchema = (answer: z.ZodObject, lines: string): z.ZodObject =>
  (answer.shape[lines] as z.ZodArray<z.ZodObject>).element

export const columnsOf = ({ shape }: z.ZodObject): Column[] =>
  Object.entries(shape).flatMap(([name, member]): Column[] => {
    const inner = withoutNull(member as z.ZodType)
    return inner instanceof z.ZodObject ? columnsOf(inner).map(path => [name, ...path]) : [[name]]
  })

const withoutNull = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? withoutNull(schema.unwrap() as z.ZodType)
    : schema

const headLine = (columns: readonly Column[]): string => csvLine(columns.map(path => path.join('.')))

const itemLine = (columns: readonly Column[], item: object): string => csvLine(columns.map(path => valueAt(item, path)))

const valueAt = (item: object, path: Column): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], item)

/** Who took which list away. Filters are named without their values, which may be personal data. */
async function recordExport(
  ctx: Context,
  { list, owner, query }: CsvExport,
  { store, withAudit }: Pick<AdminDeps, 'withAudit' | 'store'>,
): Promise<void> {
  const { limit: _, cursor: __, ...filters } = ctx.query
  const app = query.app_id === undefined ? undefined : await getOne(store.docs('apps'), query.app_id)
  const named = owner ?? app
  const company_id = named ? (named.company_id ?? named._id) : (query.company_id ?? principalOf(ctx).company_id)
  // It changes nothing of a closed company.
  ctx.state.allowedWhenClosed = true
  await withAudit(ctx, () => ({
    action: 'list.export',
    target: named?._id ?? company_id ?? 'all companies',
    company_id,
    before: null,
    after: { list, filters: Object.keys(filters).sort() },
    perform: async () => true,
  }))
}

// The parts that every section of the reference is made of.
import { EMPTY_HTML, type Html, html } from './html.ts'

export type Level = 1 | 2 | 3

/** Other words that readers search for, with commas between them. */
type Keywords = string

/** The text of a heading is a link to itself, so that readers can pass it on. */
export const heading = (level: Level, id: string, text: string, keywords: Keywords = ''): Html =>
  html`<${tag(level)} id="${id}"${searched(keywords)}><a href="#${id}">${text}</a></${tag(level)}>`

const searched = (keywords: Keywords): Html => (keywords === '' ? EMPTY_HTML : html` data-keywords="${keywords}"`)

const tag = (level: number): Html => ({ html: `h${level}` })

/** A heading without an anchor, below one of `level`. */
export const subheading = (level: Level, text: string): Html => html`<${tag(level + 1)}>${text}</${tag(level + 1)}>`

/** A link to the screen of the dashboard with this path, where the process serves one; otherwise nothing. */
export const inDashboard = (path: string): Html => html`<span data-screen="${path}"></span>`

/** Text beside its code. On narrow screens the code follows the text. */
export const besides = (text: Html, code: Html): Html =>
  html`<div class="row"><div class="text">${text}</div><div class="side">${code}</div></div>`

interface Row {
  id?: string
  keywords?: Keywords
  cells: readonly Html[]
}

/** A table whose rows may have anchors. The first cell of a row names it. On a phone each row becomes a block. */
export function table(columns: readonly string[], rows: readonly Row[]): Html {
  const row = ({ id, keywords = '', cells: [name = EMPTY_HTML, ...rest] }: Row): Html =>
    html`<tr${id === undefined ? EMPTY_HTML : html` id="${id}"${searched(keywords)}`}><th scope="row">${name}</th>${rest.map(cell => html`<td>${cell}</td>`)}</tr>`
  return html`<table><thead><tr>${columns.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(row)}</tbody></table>`
}

// In: the OpenAPI document, and the screens of the dashboard that this process serves. Out: every page of the reference as HTML by its
// address, and as Markdown; their list for programs (llmstxt.org); the index of the search. A page can be read without its script, which
// adds the search, the tabs of the samples, the copy buttons and the forms that try a call.
import type { OpenApiDocument } from '../../../infra/openapi/document.ts'
import type { Base } from './code-block.ts'
import { FRONT_PATH } from './front-path.ts'
import { type Html, html } from './html.ts'
import { markdownAddress, toMarkdown } from './markdown.ts'
import { renderFrontPage, renderPage } from './page.ts'
import { type Page, type ReferenceInput, referencePages } from './pages.ts'
import { type SearchEntry, searchEntries } from './search-entries.ts'

export interface ScreenLink {
  path: string
  name: string
}

export interface Reference {
  /** By address, such as /docs/errors. */
  pages: ReadonlyMap<string, string>
  /** By address, such as /docs/errors.md. */
  markdown: ReadonlyMap<string, () => string>
  /** The list of these pages, for programs. */
  llmsTxt: string
  searchEntries: readonly SearchEntry[]
}

export interface ReferenceOptions extends ReferenceInput {
  screens: readonly ScreenLink[]
  /** The tags that load the style and the script; empty where they are not built. */
  assets: string
}

const addressOf = ({ slug }: Page): string => `${FRONT_PATH}/${slug}`

export function createReference({ document, base, screens, assets }: ReferenceOptions): Reference {
  const pages = referencePages({ document, base })
  const addresses = new Map(pages.flatMap(page => anchorsIn(page.body).map(anchor => [anchor, addressOf(page)])))
  const headings = new Set(pages.map(({ id }) => id))
  /** A link to an anchor of another page gets its address. The heading of a page is its beginning. */
  const link = (page: Html, own: string | null): string =>
    linkScreens(page.html, screens).replaceAll(/ href="#([^"]+)"/g, (written, anchor: string) => {
      const address = addresses.get(anchor)
      if (address === undefined || address === own) return written
      return ` href="${headings.has(anchor) ? address : `${address}#${anchor}`}"`
    })
  const frame = { info: document.info, base, assets, pages }
  return {
    pages: new Map([
      [FRONT_PATH, link(renderFrontPage({ ...frame, document }), null)],
      ...pages.map((page): [string, string] => [
        addressOf(page),
        link(renderPage({ ...frame, page }), addressOf(page)),
      ]),
    ]),
    markdown: new Map(
      pages.map(page => [markdownAddress(addressOf(page)), () => toMarkdown(link(page.body, addressOf(page)))]),
    ),
    llmsTxt: listForPrograms(document.info, base, pages),
    searchEntries: pages.flatMap(page => searchEntries(page.body.html, page.name, addressOf(page))),
  }
}

function listForPrograms({ title, summary }: OpenApiDocument['info'], base: Base, pages: readonly Page[]): string {
  const origin = base.known ? base.url : ''
  const parts = [...new Set(pages.map(({ part }) => part))]
  const list = (part: Page['part']): string =>
    pages
      .filter(page => page.part === part)
      .map(page => `- [${page.name}](${origin}${markdownAddress(addressOf(page))}): ${page.about}`)
      .join('\n')
  return `# ${title}\n\n> ${summary}\n\nThe whole API as one document: [openapi.json](${origin}/openapi.json).\n\n${parts
    .map(part => `## ${part}\n\n${list(part)}\n`)
    .join('\n')}`
}

const anchorsIn = ({ html }: Html): string[] => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)

/** Where this process does not serve the dashboard, its screens are named and not linked. */
function linkScreens(page: string, screens: readonly ScreenLink[]): string {
  const names = new Map(screens.map(({ path, name }) => [path, name]))
  return page
    .replaceAll(/<span data-screen="([^"]+)"><\/span>/g, (_, path: string) => {
      const name = names.get(path)
      return name === undefined
        ? ''
        : html`<span class="in-dashboard">In the dashboard: <a href="${path}">${name}</a></span>`.html
    })
    .replaceAll(/<a href="(\/[\w-]+)">(.*?)<\/a>/g, (link, path: string, text: string) =>
      names.has(path) || path === FRONT_PATH ? link : text,
    )
}

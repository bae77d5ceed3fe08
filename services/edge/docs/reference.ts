// In: the OpenAPI document, and the screens of the dashboard that this process serves. Out: every page of the reference as HTML by its
// address, and the index of its search. A page can be read without its script, which adds the search, the tabs of the samples, the copy
// buttons and the forms that try a call.
import { type Html, html } from './html.ts'
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
  searchEntries: readonly SearchEntry[]
}

export interface ReferenceOptions extends ReferenceInput {
  screens: readonly ScreenLink[]
  /** The tags that load the style and the script; empty where they are not built. */
  assets: string
}

export const FRONT_PATH = '/docs'
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
    searchEntries: pages.flatMap(page => searchEntries(page.body.html, page.name, addressOf(page))),
  }
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

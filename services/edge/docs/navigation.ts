// The contents of the reference as links: every page, and the sections of the page that is open.
import { type Html, html } from './html.ts'
import type { Page } from './pages.ts'

const pageLink = (page: Page, current: Page | null): Html =>
  page === current
    ? html`<li><a href="#${page.id}" aria-current="page">${page.name}</a>${sectionLinks(page)}</li>`
    : html`<li><a href="#${page.id}">${page.name}</a></li>`

function partLinks(part: string, pages: readonly Page[], current: Page | null): Html {
  return html`<p class="contents-title">${part}</p>
<ul>${pages.filter(page => page.part === part).map(page => pageLink(page, current))}</ul>`
}

/** A long list of objects is found by the search, and by the page itself. */
const MOST_SECTIONS = 30

function sectionLinks({ body }: Page): Html {
  const sections = [...body.html.matchAll(/<h2 id="([^"]+)"[^>]*>(.*?)<\/h2>/g)]
  if (sections.length === 0 || sections.length > MOST_SECTIONS) return html``
  return html`<ul>${sections.map(
    ([, id = '', text = '']) => html`<li><a href="#${id}">${{ html: text.replaceAll(/<[^>]+>/g, '') }}</a></li>`,
  )}</ul>`
}

export function navigation(pages: readonly Page[], current: Page | null): Html {
  const parts = [...new Set(pages.map(({ part }) => part))]
  return html`<nav class="contents" id="contents" aria-label="Contents">
${parts.map(part => partLinks(part, pages, current))}
</nav>`
}

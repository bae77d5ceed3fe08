// The frame of every page of the reference: its head, the bar, the contents; and the front page, which lists all others.
import type { OpenApiDocument } from '../../../infra/openapi/document.ts'
import type { Base } from './code-block.ts'
import { EMPTY_HTML, type Html, html, prose } from './html.ts'
import { navigation } from './navigation.ts'
import { entriesOf } from './outline.ts'
import { callList, type Page } from './pages.ts'
import { MAGIC_LIST, magicRecipientList } from './try-form.ts'

export interface Frame {
  info: OpenApiDocument['info']
  base: Base
  assets: string
  pages: readonly Page[]
}

export const renderPage = ({ page, ...frame }: Frame & { page: Page }): Html =>
  inFrame(
    frame,
    page,
    `${page.name} · ${frame.info.title} API reference`,
    html`
${page.body}
${neighbours(frame.pages, page)}
${has(page.body, `list="${MAGIC_LIST}"`) ? magicRecipientList() : EMPTY_HTML}`,
  )

export function renderFrontPage({ document, ...frame }: Frame & { document: OpenApiDocument }): Html {
  const { info, base, pages } = frame
  return inFrame(
    frame,
    null,
    `${info.title} API reference`,
    html`
<h1 id="top">${info.title} API</h1>
<p class="lead">${info.summary}</p>
<p>${prose(info.description)}</p>
<p>The address of this deployment is <code>${baseText(base)}</code>.</p>
<h2>Guides</h2>
${cards(pages, 'Guides')}
<h2><a href="#tag-Verifications">Client API</a></h2>
${callList(entriesOf(document, 'Verifications'))}
<h2><a href="#events">Events</a></h2>
<ul class="calls">${Object.entries(document.webhooks).map(
      ([type, { post }]) => html`<li><a href="#${post.operationId}">${post.summary}</a> <code>${type}</code></li>`,
    )}</ul>
<h2><a href="#tag-Admin">Admin API</a></h2>
${cards(pages, 'Admin API')}
<h2>More</h2>
<ul class="calls"><li><a href="#schemas">Objects</a></li><li><a href="/openapi.json">openapi.json</a></li></ul>`,
  )
}

const cards = (pages: readonly Page[], part: Page['part']): Html =>
  html`<ul class="cards">${pages
    .filter(page => page.part === part)
    .map(({ id, name, about }) => html`<li><a href="#${id}">${name}</a><p>${about}</p></li>`)}</ul>`

const inFrame = ({ info, assets, pages }: Frame, page: Page | null, title: string, content: Html): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${page?.about ?? info.summary}">
${{ html: assets }}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/docs"><img src="/docs-assets/favicon.svg" alt="" width="26" height="26">${info.title} <span>API reference</span></a>
<button type="button" class="button" id="open-search" aria-keyshortcuts="/ Control+K" hidden>Search <kbd aria-hidden="true">/</kbd></button>
<button type="button" class="button" id="toggle-contents" aria-expanded="false" aria-controls="contents" hidden>Contents</button>
</header>
<div class="page">
${navigation(pages, page)}
<main id="content" tabindex="-1">
${content}
</main>
</div>
</body>
</html>
`

const has = ({ html }: Html, text: string): boolean => html.includes(text)

const baseText = ({ url, known }: Base): Html => (known ? html`${url}` : html`<b data-base>${url}</b>`)

/** The pages before and after this one. */
function neighbours(pages: readonly Page[], page: Page): Html {
  const at = pages.indexOf(page)
  const link = (to: Page | undefined, rel: string, before: string, after: string): Html =>
    to === undefined ? EMPTY_HTML : html`<a rel="${rel}" href="#${to.id}">${before}${to.name}${after}</a>`
  return html`<nav class="neighbours" aria-label="Neighbouring pages">${link(pages[at - 1], 'prev', '← ', '')}${link(pages[at + 1], 'next', '', ' →')}</nav>`
}

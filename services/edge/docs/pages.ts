// In: the OpenAPI document. Out: the pages of the reference, in the order of the contents, each with its text. A link in a text names an
// anchor, such as `#errors`, and reference.ts makes an address of it.
import type { OpenApiDocument } from '../../../infra/openapi/document.ts'
import { type Base, jsonBlock, languageChoice } from './code-block.ts'
import { GUIDES } from './guides/all.ts'
import type { Guide } from './guides/guide.ts'
import { EMPTY_HTML, type Html, html, prose } from './html.ts'
import { besides, heading, inDashboard } from './layout.ts'
import { membersList, schemaAnchor, schemaByRef } from './members.ts'
import { operationSection } from './operation.ts'
import { adminGroups, type Entry, entriesOf, type Group } from './outline.ts'

export interface Page {
  /** The end of its address, after /docs/. */
  slug: string
  /** The anchor of its heading. */
  id: string
  name: string
  /** What it is about, in one line. */
  about: string
  /** The part of the contents that it belongs to. */
  part: 'Guides' | 'Reference' | 'Admin API'
  /** With its heading. */
  body: Html
}

/** `keywords`: of its heading. */
type Written = Omit<Page, 'slug'> & { slug?: string; keywords?: string }

function createPage({ slug, keywords, body, ...page }: Written): Page {
  const choice = body.html.includes('class="code sample"') ? languageChoice() : EMPTY_HTML
  return { ...page, slug: slug ?? page.id, body: html`${heading(1, page.id, page.name, keywords)}${choice}${body}` }
}

export interface ReferenceInput {
  document: OpenApiDocument
  base: Base
}

export function referencePages({ document, base }: ReferenceInput): Page[] {
  const inClientApi = clientObjects(document)
  return [
    ...GUIDES.map(guide => guidePage(guide, document, base)),
    clientApi(document, base),
    events(document),
    objects(document, inClientApi),
    adminApi(document),
    ...adminGroups(document).map(group => adminPage(group, document, base)),
    adminObjects(document, inClientApi),
  ]
}

const guidePage = (guide: Guide, document: OpenApiDocument, base: Base): Page =>
  createPage({
    id: guide.id,
    name: guide.name,
    about: guide.about,
    part: 'Guides',
    keywords: guide.keywords,
    body: html`${guide.screen === undefined ? html`` : html`<p class="callers">${inDashboard(guide.screen)}</p>`}
<div class="guide">${guide.render({ document, base })}</div>`,
  })

const tagDescription = (document: OpenApiDocument, tag: string): Html =>
  html`<p>${prose(document.tags.find(({ name }) => name === tag)?.description ?? '')}</p>`

const clientApi = (document: OpenApiDocument, base: Base): Page =>
  createPage({
    slug: 'client-api',
    id: 'tag-Verifications',
    name: 'Client API',
    about: 'Send, resend, verify, look up, cancel, exchange.',
    part: 'Reference',
    keywords: 'endpoints, calls, REST',
    body: html`${tagDescription(document, 'Verifications')}
${entriesOf(document, 'Verifications').map(entry => operationSection(entry, document, { base, canTry: true }))}`,
  })

const adminApi = (document: OpenApiDocument): Page =>
  createPage({
    slug: 'admin-api',
    id: 'tag-Admin',
    name: 'Admin API',
    about: 'Companies, apps, keys, providers, money, people.',
    part: 'Reference',
    keywords: 'management API, operator API, pagination, paging, next page',
    body: html`${tagDescription(document, 'Admin')}
${adminGroups(document).map(
  ({ id, name, entries }) => html`<h2><a href="#${id}">${name}</a></h2>
${callList(entries)}`,
)}`,
  })

/** The operations of a page, as links. */
export const callList = (entries: readonly Entry[]): Html =>
  html`<ul class="calls">${entries.map(
    ({ method, path, operation: { operationId, summary } }) =>
      html`<li><a href="#${operationId}">${summary}</a> <span class="request"><b class="method ${method.toLowerCase()}">${method}</b> <code>${path}</code></span></li>`,
  )}</ul>`

const adminPage = ({ id, name, keywords, entries }: Group, document: OpenApiDocument, base: Base): Page =>
  createPage({
    id,
    name,
    about: entries.map(({ operation }) => operation.summary).join(', '),
    keywords,
    part: 'Admin API',
    body: html`${entries.map(entry => operationSection(entry, document, { base, canTry: false }))}`,
  })

const events = ({ webhooks, components: { schemas } }: OpenApiDocument): Page =>
  createPage({
    id: 'events',
    name: 'Events',
    about: 'What your endpoint is sent.',
    part: 'Reference',
    keywords: 'webhook payloads',
    body: html`<p>${prose('What [your endpoint](#webhooks) is sent.')}</p>
${Object.entries(webhooks).map(([type, { post }]) => {
  const [content] = Object.values(post.requestBody?.content ?? {})
  if (content === undefined) return html``
  const schema = schemaByRef(content.schema.$ref, schemas)
  return html`<section class="operation" aria-labelledby="${post.operationId}">
${heading(2, post.operationId, post.summary)}
${besides(
  html`<p class="request"><b class="method post">POST</b> <code>${type}</code></p><p>${prose(post.description)}</p>${membersList(schema, schemas, { anchor: post.operationId, use: 'answer', nested: true })}`,
  jsonBlock(type, content.example),
)}
</section>`
})}`,
  })

const objects = (document: OpenApiDocument, inClientApi: ReadonlySet<string>): Page =>
  objectsPage(document, name => inClientApi.has(name), {
    slug: 'objects',
    id: 'schemas',
    name: 'Objects',
    about: 'Every object of the client API and of events by its name, as generated clients have it.',
    part: 'Reference',
  })

const adminObjects = (document: OpenApiDocument, inClientApi: ReadonlySet<string>): Page =>
  objectsPage(document, name => !inClientApi.has(name), {
    id: 'admin-objects',
    name: 'Objects of the admin API',
    about: 'Every object of the admin API alone by its name, as generated clients have it.',
    part: 'Admin API',
  })

const objectsPage = (
  { components: { schemas } }: OpenApiDocument,
  isOnPage: (name: string) => boolean,
  page: Omit<Written, 'body'>,
): Page =>
  createPage({
    ...page,
    keywords: 'schemas, types, models',
    body: html`<p>${page.about}</p>
${Object.entries(schemas).flatMap(([name, schema]) =>
  schema.properties && isOnPage(name)
    ? [
        html`<details class="object"><summary><h2 id="${schemaAnchor(name)}">${name}</h2></summary><p>${prose(schema.description ?? '')}</p>${membersList(schema, schemas, { anchor: schemaAnchor(name), use: 'answer', nested: false })}</details>`,
      ]
    : [],
)}`,
  })

/** The names of the objects in calls of the client API and in events, and of those within them. */
function clientObjects(document: OpenApiDocument): Set<string> {
  const { webhooks, components } = document
  const names = new Set<string>()
  const add = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (names.has(name)) continue
      names.add(name)
      add(components.schemas[name])
    }
  }
  add([entriesOf(document, 'Verifications'), webhooks])
  return names
}

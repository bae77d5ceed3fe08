// The contents of the reference as links, in groups that fold.
import type { OpenApiDocument } from '../../../infra/openapi/document.ts'
import { GUIDES } from './guides/all.ts'
import { type Html, html } from './html.ts'
import { adminGroups, type Entry, entriesOf } from './outline.ts'

const link = (id: string, text: string): Html => html`<li><a href="#${id}">${text}</a></li>`

const operationLinks = (entries: readonly Entry[]): Html =>
  html`<ul>${entries.map(({ operation }) => link(operation.operationId, operation.summary))}</ul>`

const group = (name: string, links: Html): Html => html`<li><details><summary>${name}</summary>${links}</details></li>`

export function navigation(document: OpenApiDocument): Html {
  const events = Object.entries(document.webhooks)
  return html`<nav class="contents" id="contents" aria-label="Contents">
<p class="contents-title">Guides</p>
<ul>${GUIDES.map(({ id, name }) => link(id, name))}</ul>
<p class="contents-title">Client API</p>
${operationLinks(entriesOf(document, 'Verifications'))}
<p class="contents-title">Events</p>
<ul>${events.map(([type, { post }]) => link(post.operationId, type))}</ul>
<p class="contents-title">Admin API</p>
<ul>${adminGroups(document).map(({ name, entries }) => group(name, operationLinks(entries)))}</ul>
<p class="contents-title">More</p>
<ul>${link('schemas', 'Objects')}<li><a href="/openapi.json">openapi.json</a></li></ul>
</nav>`
}

// In: the OpenAPI document. Out: the reference as one page of HTML. It can be read without its script, which adds the search, the tabs of
// the samples, the copy buttons and the forms that try a call.
import type { OpenApiDocument } from '../../../infra/openapi/document.ts'
import { type Base, jsonBlock } from './code-block.ts'
import { GUIDES } from './guides/all.ts'
import { type Html, html, prose } from './html.ts'
import { besides, heading } from './layout.ts'
import { membersList, schemaAnchor, schemaByRef } from './members.ts'
import { navigation } from './navigation.ts'
import { operationSection } from './operation.ts'
import { adminGroups, entriesOf } from './outline.ts'
import { LANGUAGES } from './samples/request.ts'
import { magicRecipientList } from './try-form.ts'

export interface ReferencePage {
  document: OpenApiDocument
  base: Base
  /** The tags that load the style and the script; empty where they are not built. */
  assets: string
}

export function renderReferencePage({ document, base, assets }: ReferencePage): string {
  const { info } = document
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API reference</title>
<meta name="description" content="${info.summary}">
${{ html: assets }}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="#top"><img src="/docs-assets/favicon.svg" alt="" width="26" height="26">${info.title} <span>API reference</span></a>
<button type="button" class="button" id="open-search" aria-keyshortcuts="/ Control+K" hidden>Search <kbd aria-hidden="true">/</kbd></button>
<button type="button" class="button" id="toggle-contents" aria-expanded="false" aria-controls="contents" hidden>Contents</button>
</header>
<div class="page">
${navigation(document)}
<main id="content" tabindex="-1">
<h1 id="top">${info.title} API</h1>
<p class="lead">${info.summary}</p>
<p>${prose(info.description)}</p>
<p>The address of this deployment is <code>${baseText(base)}</code>.</p>
${languageChoice()}
${GUIDES.map(guide => html`<section class="guide" aria-labelledby="${guide.id}">${guide.render({ document, base })}</section>`)}
${clientApi(document, base)}
${events(document)}
${adminApi(document, base)}
${objects(document)}
</main>
</div>
${magicRecipientList()}
</body>
</html>
`.html
}

const baseText = ({ url, known }: Base): Html => (known ? html`${url}` : html`<b data-base>${url}</b>`)

/** One choice for all samples. The style follows it, so it works without the script too. */
const languageChoice = (): Html => html`<fieldset class="languages"><legend>Language of the samples</legend>
${LANGUAGES.map(
  ({ id, name }, at) =>
    html`<label><input type="radio" name="language" value="${id}"${at === 0 ? html` checked` : html``}> ${name}</label>`,
)}</fieldset>`

function tagHeading(document: OpenApiDocument, tag: string, text: string): Html {
  const description = document.tags.find(({ name }) => name === tag)?.description ?? ''
  return html`${heading(2, `tag-${tag}`, text)}<p>${prose(description)}</p>`
}

const clientApi = (document: OpenApiDocument, base: Base): Html => html`<section aria-labelledby="tag-Verifications">
${tagHeading(document, 'Verifications', 'Client API')}
${entriesOf(document, 'Verifications').map(entry => operationSection(entry, document, { base, level: 3, canTry: true }))}
</section>`

const adminApi = (document: OpenApiDocument, base: Base): Html => html`<section aria-labelledby="tag-Admin">
${tagHeading(document, 'Admin', 'Admin API')}
${adminGroups(document).map(
  ({ id, name, entries }) => html`<section aria-labelledby="${id}">
${heading(3, id, name)}
${entries.map(entry => operationSection(entry, document, { base, level: 4, canTry: false }))}
</section>`,
)}
</section>`

const events = ({ webhooks, components: { schemas } }: OpenApiDocument): Html => html`<section aria-labelledby="events">
${heading(2, 'events', 'Events')}
<p>${prose('What [your endpoint](#webhooks) is sent.')}</p>
${Object.entries(webhooks).map(([type, { post }]) => {
  const [content] = Object.values(post.requestBody?.content ?? {})
  if (content === undefined) return html``
  const schema = schemaByRef(content.schema.$ref, schemas)
  return html`<section class="operation" aria-labelledby="${post.operationId}">
${heading(3, post.operationId, post.summary)}
${besides(
  html`<p class="route"><b class="method post">POST</b> <code>${type}</code></p><p>${prose(post.description)}</p>${membersList(schema, schemas, { anchor: post.operationId, use: 'answer', nested: true })}`,
  jsonBlock(type, content.example),
)}
</section>`
})}
</section>`

const objects = ({ components: { schemas } }: OpenApiDocument): Html => html`<section aria-labelledby="schemas">
${heading(2, 'schemas', 'Objects')}
<p>Every object of the two APIs by its name, as generated clients have it.</p>
${Object.entries(schemas).flatMap(([name, schema]) =>
  schema.properties
    ? [
        html`<section class="object" aria-labelledby="${schemaAnchor(name)}">${heading(3, schemaAnchor(name), name)}<p>${prose(schema.description ?? '')}</p>${membersList(schema, schemas, { anchor: schemaAnchor(name), use: 'answer', nested: false })}</section>`,
      ]
    : [],
)}
</section>`

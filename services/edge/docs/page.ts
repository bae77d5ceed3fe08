// In: the OpenAPI document. Out: the reference page as HTML. It has no script and fetches nothing.
import {
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Response,
  resolveResponse,
} from '../../../infra/openapi/document.ts'
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'
import { EMPTY_HTML, type Html, html, prose } from './html.ts'
import { membersTable, schemaAnchor } from './members.ts'
import { STYLE } from './style.ts'

interface Entry {
  method: string
  path: string
  operation: Operation
}

/** `base` is the URL in the examples, which readers paste into a terminal. */
export function renderReferencePage(document: OpenApiDocument, base: string): string {
  const { info, tags, components } = document
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const entriesOf = (tag: string) => entries.filter(({ operation }) => operation.tags.includes(tag))
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API reference</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<div class="page">
<nav aria-label="Contents"><ul>
<li><a href="#start">Getting started</a></li>
${tags.map(
  ({ name }, at) => html`<li><details${at === 0 ? html` open` : EMPTY_HTML}><summary>${name}</summary><ul>
${entriesOf(name).map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}
</ul></details></li>`,
)}
<li><a href="#webhooks">Webhooks</a></li>
<li><a href="#errors">Errors</a></li>
<li><a href="#schemas">Schemas</a></li>
<li><a href="/openapi.json">openapi.json</a></li>
</ul></nav>
<main>
<h1>${info.title} API</h1>
<p class="lead">${info.summary}</p>
<p>${prose(info.description)}</p>
${gettingStarted(document, base)}
${tags.map(
  tag => html`<section aria-labelledby="tag-${tag.name}">
<h2 id="tag-${tag.name}">${tag.name}</h2>
<p>${prose(tag.description)}</p>
${entriesOf(tag.name).map(entry => section(entry, document))}
</section>`,
)}
${webhooksSection(document)}
<h2 id="errors">Errors</h2>
<p>Every error has this shape, as <code>application/problem+json</code>. Decide by <code>type</code>, never by wording.</p>
${membersTable(components.schemas.Problem ?? {}, components.schemas)}
<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas).flatMap(([name, schema]) =>
  schema.properties
    ? [
        html`<h3 id="${schemaAnchor(name)}">${name}</h3><p>${prose(schema.description ?? '')}</p>${membersTable(schema, components.schemas)}`,
      ]
    : [],
)}
</main>
</div>
</body>
</html>
`
  return page.html
}

const gettingStarted = ({ components }: OpenApiDocument, base: string): Html => html`
<h2 id="start">Getting started</h2>
<p>Every call says who makes it, most with <code>Authorization: Bearer …</code>:</p>
<ul>${Object.entries(components.securitySchemes).map(
  ([name, { description }]) => html`<li><b>${name}</b>: ${prose(description)}</li>`,
)}</ul>
<p>The examples below read the address and the tokens from the environment:</p>
<pre tabindex="0"><code>export BASE=${base}
export SERVER_KEY=sk_test_…
export ADMIN_TOKEN=…</code></pre>`

function section({ method, path, operation }: Entry, document: OpenApiDocument): Html {
  const { operationId, summary, description, security, parameters = [], requestBody } = operation
  const { schemas } = document.components
  const responses = Object.entries(operation.responses).map(([status, one]) => ({
    status,
    ...resolveResponse(document, one),
  }))
  const [request] = Object.values(requestBody?.content ?? {})
  const [success] = responses.flatMap(({ status, content }) =>
    status.startsWith('2') ? Object.values(content ?? {}) : [],
  )
  const [scheme] = security.flatMap(Object.keys)
  return html`
<section aria-labelledby="${operationId}">
<h3 id="${operationId}">${summary}</h3>
<p class="route"><b>${method}</b> ${path}</p>
<p>${prose(description)}</p>
<p class="soft">${security.length === 0 ? 'Needs no authentication.' : `Authentication: ${securityText(security)}.`}</p>
${parameters.length === 0 ? EMPTY_HTML : html`<h4>Parameters</h4>${parametersTable(parameters)}`}
${request ? html`<h4>Request</h4>${membersTable(schemaByRef(request.schema.$ref, schemas), schemas)}` : EMPTY_HTML}
<pre tabindex="0"><code>${curl(method, path, scheme, request?.example)}</code></pre>
${success ? html`<h4>Response</h4>${membersTable(schemaByRef(success.schema.$ref, schemas), schemas)}${examples(success.examples)}` : EMPTY_HTML}
<h4>Errors</h4>
${errorsTable(responses)}
</section>`
}

const securityText = (security: Operation['security']): string =>
  security.map(schemes => Object.keys(schemes).join(' with ')).join(', or ')

function webhooksSection({ webhooks, components }: OpenApiDocument): Html {
  const operations = Object.entries(webhooks).map(([type, { post }]) => ({ type, post }))
  const [first] = operations
  if (first === undefined) return EMPTY_HTML
  return html`
<section aria-labelledby="webhooks">
<h2 id="webhooks">Webhooks</h2>
<p>Events that are sent to the endpoint of your app, signed by these headers:</p>
${parametersTable(first.post.parameters ?? [])}
${operations.map(({ type, post }) => {
  const [content] = Object.values(post.requestBody?.content ?? {})
  return html`<section aria-labelledby="${post.operationId}">
<h3 id="${post.operationId}">${post.summary}</h3>
<p class="route"><b>POST</b> ${type}</p>
<p>${prose(post.description)}</p>
${content ? html`${membersTable(schemaByRef(content.schema.$ref, components.schemas), components.schemas)}<pre tabindex="0"><code>${json(content.example)}</code></pre>` : EMPTY_HTML}
</section>`
})}
</section>`
}

const schemaByRef = (ref: string, schemas: Record<string, JsonSchema>): JsonSchema =>
  schemas[ref.slice(ref.lastIndexOf('/') + 1)] ?? {}

const parametersTable = (parameters: readonly Parameter[]): Html => html`<div class="wide"><table>
<thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Meaning</th></tr></thead>
<tbody>${parameters.map(
  one =>
    html`<tr><th scope="row"><code>${one.name}</code></th><td>${one.in}</td><td>${prose(one.description)}</td></tr>`,
)}</tbody></table></div>`

const examples = (all: Record<string, { value: unknown }> = {}): Html[] =>
  Object.entries(all).map(
    ([name, { value }], at) =>
      html`<details${at === 0 ? html` open` : EMPTY_HTML}><summary>${name}</summary><pre tabindex="0"><code>${json(value)}</code></pre></details>`,
  )

function errorsTable(responses: readonly (Response & { status: string })[]): Html {
  const rows = responses.flatMap(({ status, content }) =>
    Object.entries(content?.['application/problem+json']?.examples ?? {}).map(
      ([type, { summary = '' }]) =>
        html`<tr><th scope="row">${status}</th><td><code>${type}</code></td><td>${prose(summary)}</td></tr>`,
    ),
  )
  return html`<div class="wide"><table><thead><tr><th scope="col">Status</th><th scope="col">Type</th><th scope="col">When</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

/** The variables that hold the tokens in the examples. */
const TOKEN_VARIABLES: Record<string, string> = { server: 'SERVER_KEY', operator: 'ADMIN_TOKEN' }

const curl = (method: string, path: string, scheme: string | undefined, example: unknown): string =>
  [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$BASE${path.replaceAll(/[{}]/g, match => (match === '{' ? '$' : ''))}"`,
    ...(scheme === undefined ? [] : [`  -H "Authorization: Bearer $${TOKEN_VARIABLES[scheme] ?? 'TOKEN'}"`]),
    ...(example === undefined ? [] : ["  -H 'Content-Type: application/json'", `  -d '${JSON.stringify(example)}'`]),
  ].join(' \\\n')

const json = (value: unknown): string => JSON.stringify(value, null, 2)

// In: the OpenAPI document. Out: the reference page as HTML. It has no script and fetches nothing.
import type { JsonSchema } from '../openapi/components.ts'
import type { OpenApiDocument, Operation, Parameter } from '../openapi/document.ts'
import { EMPTY_HTML, type Html, html, prose } from './html.ts'
import { membersTable } from './members.ts'
import { STYLE } from './style.ts'

interface Entry {
  method: string
  path: string
  operation: Operation
}

/** `base` is the URL in the examples, which readers paste into a terminal. */
export function renderReferencePage(document: OpenApiDocument, base: string): string {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const { info, components } = document
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
${entries.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}
<li><a href="#errors">Errors</a></li>
<li><a href="/openapi.json">openapi.json</a></li>
</ul></nav>
<main>
<h1>${info.title} API</h1>
<p class="lead">${info.summary}</p>
<p>${prose(info.description)}</p>
${gettingStarted(document, base)}
${entries.map(entry => section(entry, components.schemas))}
<h2 id="errors">Errors</h2>
<p>Every error has this shape, as <code>application/problem+json</code>. Decide by <code>type</code>, never by wording.</p>
${membersTable(components.schemas.Problem, components.schemas)}
</main>
</div>
</body>
</html>
`
  return page.html
}

const gettingStarted = ({ components }: OpenApiDocument, base: string): Html => html`
<h2 id="start">Getting started</h2>
<p>Every call carries an API key: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. There are two kinds, each for live or test mode.</p>
<ul>${Object.values(components.securitySchemes).map(({ description }) => html`<li>${prose(description)}</li>`)}</ul>
<p>The examples below read both from the environment:</p>
<pre tabindex="0"><code>export BASE=${base}
export API_KEY=sk_test_…</code></pre>`

function section({ method, path, operation }: Entry, schemas: Record<string, JsonSchema>): Html {
  const { operationId, summary, description, security, parameters = [], requestBody, responses } = operation
  const [request] = Object.values(requestBody?.content ?? {})
  const [success] = Object.values(responses[200]?.content ?? {})
  const keys = security.flatMap(Object.keys).join(' or ')
  return html`
<section aria-labelledby="${operationId}">
<h2 id="${operationId}">${summary}</h2>
<p class="route"><b>${method}</b> ${path}</p>
<p>${prose(description)}</p>
<p class="soft">Takes a ${keys} key.</p>
${parameters.length === 0 ? EMPTY_HTML : html`<h3>Parameters</h3>${parametersTable(parameters)}`}
${request ? html`<h3>Request</h3>${membersTable(schemaByRef(request.schema.$ref, schemas), schemas)}` : EMPTY_HTML}
<pre tabindex="0"><code>${curl(method, path, request?.example)}</code></pre>
${success ? html`<h3>Response</h3>${membersTable(schemaByRef(success.schema.$ref, schemas), schemas)}${examples(success.examples)}` : EMPTY_HTML}
<h3>Errors</h3>
${errorsTable(responses)}
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

function errorsTable(responses: Operation['responses']): Html {
  const rows = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.entries(content['application/problem+json']?.examples ?? {}).map(
      ([type, { summary = '' }]) =>
        html`<tr><th scope="row">${status}</th><td><code>${type}</code></td><td>${prose(summary)}</td></tr>`,
    ),
  )
  return html`<div class="wide"><table><thead><tr><th scope="col">Status</th><th scope="col">Type</th><th scope="col">When</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

const curl = (method: string, path: string, example: unknown): string =>
  [
    `curl ${method === 'POST' ? '-X POST ' : ''}"$BASE${path.replaceAll(/[{}]/g, match => (match === '{' ? '$' : ''))}"`,
    `  -H "Authorization: Bearer $API_KEY"`,
    ...(example === undefined ? [] : ["  -H 'Content-Type: application/json'", `  -d '${JSON.stringify(example)}'`]),
  ].join(' \\\n')

const json = (value: unknown): string => JSON.stringify(value, null, 2)

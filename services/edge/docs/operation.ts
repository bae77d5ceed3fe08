// In: an operation of the OpenAPI document. Out: its section: who may call it, its parameters, body, answer and errors, samples in every
// language, and examples of its answer.
import { errorAnchor } from '../../../infra/http/problem.ts'
import {
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Response,
  resolveResponse,
} from '../../../infra/openapi/document.ts'
import { type Base, jsonBlock, requestSample, textBlock } from './code-block.ts'
import { EMPTY_HTML, type Html, html, prose } from './html.ts'
import { besides, heading, inDashboard, subheading, table } from './layout.ts'
import { about, kindOf, membersList, type Schemas, schemaByRef } from './members.ts'
import { type Entry, screenOf } from './outline.ts'
import type { SampleRequest } from './samples/request.ts'
import { tryForm } from './try-form.ts'

/** Its heading, below that of the page. */
const LEVEL = 2

export interface OperationOptions {
  base: Base
  /** Whether the reader may try it on the page. */
  canTry: boolean
}

interface Answer extends Response {
  status: string
}

export function operationSection(entry: Entry, document: OpenApiDocument, { base, canTry }: OperationOptions): Html {
  const { method, path, operation } = entry
  const { schemas } = document.components
  const { operationId, summary, parameters = [], requestBody } = operation
  const { description, role } = splitRole(operation.description)
  const screen = screenOf(entry)
  const answers = Object.entries(operation.responses).map(([status, one]) => ({
    status,
    ...resolveResponse(document, one),
  }))
  const successes = answers.filter(({ status }) => status.startsWith('2'))
  const [request] = Object.values(requestBody?.content ?? {})
  const text = html`
<p class="request"><b class="method ${method.toLowerCase()}">${method}</b> <code>${path}</code></p>
<p>${prose(description)}</p>
<p class="callers">${callers(operation, role)} ${screen === undefined ? EMPTY_HTML : inDashboard(screen)}</p>
${parameters.length === 0 ? EMPTY_HTML : html`${subheading(LEVEL, 'Parameters')}${parametersList(parameters, operationId, schemas)}`}
${
  request === undefined
    ? EMPTY_HTML
    : html`${subheading(LEVEL, requestBody?.required === false ? 'Body, optional' : 'Body')}${membersList(schemaByRef(request.schema.$ref, schemas), schemas, { anchor: operationId, use: 'request', nested: true })}`
}
${successes.map(answer => html`${subheading(LEVEL, `Answer ${answer.status}`)}${answerMembers(answer, operationId, schemas)}`)}
${errorsOf(answers)}`
  const code = html`
${requestSample(`${method} ${path}`, sampleOf(entry, successes), base)}
${canTry ? tryForm(entry, schemas) : EMPTY_HTML}
${successes.flatMap(examplesOf)}`
  return html`<section class="operation" aria-labelledby="${operationId}">
${heading(LEVEL, operationId, summary)}
${besides(text, code)}
</section>`
}

/** The admin API says the lowest role at the end of each description. */
function splitRole(text: string): { description: string; role: string | undefined } {
  const [, description = text, role] = /^(.*?) ?Lowest role: `(\w+)`\.$/s.exec(text) ?? []
  return { description, role }
}

const badge = (text: string): Html => html`<span class="badge">${text}</span>`

/** Every role may do what those before it may. */
const ROLES = ['viewer', 'developer', 'owner', 'operator']

function callers({ security }: Operation, role: string | undefined): Html {
  if (security.length === 0) return html`Who may call it: anyone, without a key.`
  const kinds = security.flatMap(Object.keys)
  if (role === undefined)
    return html`Who may call it: ${kinds.map(kind => html`<a href="#authentication">${badge(`${kind} key`)}</a>`)}`
  const roles = ROLES.slice(Math.max(0, ROLES.indexOf(role)))
  return html`Who may call it: ${roles.map(one => html`<a href="#authentication">${badge(one)}</a>`)}`
}

const parametersList = (parameters: readonly Parameter[], anchor: string, schemas: Schemas): Html =>
  html`<ul class="members">${parameters.map(
    one =>
      html`<li id="${anchor}.${one.name}"><div class="member"><code>${one.name}</code> <span class="kind">${kindOf(
        one.schema,
        schemas,
      )}, in the ${one.in}</span>${one.required ? html` <span class="required">required</span>` : EMPTY_HTML}</div>${about(
        { ...one.schema, description: one.description },
        schemas,
      )}</li>`,
  )}</ul>`

function answerMembers({ status, description, content }: Answer, anchor: string, schemas: Schemas): Html {
  const [body] = Object.values(content ?? {})
  const members =
    body === undefined
      ? EMPTY_HTML
      : membersList(schemaByRef(body.schema.$ref, schemas), schemas, {
          anchor: `${anchor}.${status}`,
          use: 'answer',
          nested: true,
        })
  return html`<p>${prose(description)}${body === undefined ? ' It has no body.' : ''}</p>${members}`
}

const examplesOf = ({ status, content }: Answer): Html[] =>
  Object.entries(content ?? {}).flatMap(([type, { examples = {} }]) =>
    Object.entries(examples).map(([name, { value }], at) => {
      const block =
        typeof value === 'string'
          ? textBlock(`${status}, ${type}`, value)
          : jsonBlock(`${status}${name === 'example' ? '' : `: ${name}`}`, value)
      return at === 0 ? block : html`<details class="more"><summary>${status}: ${name}</summary>${block}</details>`
    }),
  )

function errorsOf(answers: readonly Answer[]): Html {
  const rows = answers.flatMap(({ status, content }) =>
    Object.entries(content?.['application/problem+json']?.examples ?? {}).map(([type, { summary = '' }]) => ({
      cells: [html`${status}`, html`<a href="#${errorAnchor(type)}"><code>${type}</code></a>`, prose(summary)],
    })),
  )
  return html`<details class="errors"><summary>Errors (${rows.length})</summary>${table(['Status', 'Type', 'When'], rows)}</details>`
}

/** The variables of the environment that hold keys and tokens in the samples. */
const TOKEN_VARIABLES: Record<string, string> = { server: 'SERVER_KEY', operator: 'ADMIN_TOKEN' }

function sampleOf({ method, path, operation }: Entry, successes: readonly Answer[]): SampleRequest {
  const { parameters = [], requestBody, security } = operation
  const examples = new Map(parameters.map(({ name, example }) => [name, String(example ?? name)]))
  const [content] = Object.values(requestBody?.content ?? {})
  const [scheme] = security.flatMap(Object.keys)
  return {
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(examples.get(name) ?? name)),
    token: scheme === undefined ? null : (TOKEN_VARIABLES[scheme] ?? 'TOKEN'),
    ...(content === undefined ? {} : { body: content.example }),
    answers: successes.some(({ content }) => content !== undefined),
  }
}

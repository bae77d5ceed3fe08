// In: an operation of the client API. Out: a form that tries it with a test key. The script of the page shows the form and sends the
// request from it; without the script it stays hidden.
import type { Parameter } from '../../../infra/openapi/document.ts'
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'
import { MAGIC_RECIPIENTS } from '../../../machines/magic-recipients.ts'
import { EMPTY_HTML, type Html, html, prose } from './html.ts'
import { type Schemas, schemaByRef } from './members.ts'
import type { Entry } from './outline.ts'

export const MAGIC_LIST = 'magic-recipients'

/** What a field holds at first: a recipient whose code arrives at once. The ids and the token come from an answer that the reader got. */
const FIRST_VALUES: Record<string, string> = { recipient: '+15005550010' }

const HINTS: Record<string, string> = {
  message_id: 'Filled in by the answer of a message on this page.',
  metadata: 'As JSON, such as {"order": "A-1042"}. For server keys.',
  otp_id: 'Filled in by the answer of a send on this page.',
  verification_token: 'Filled in by a verify on this page with a publishable key.',
  code: 'In the sandbox inbox: the screen [Try it](/try) of the dashboard, or [the admin API](#listSandboxMessages).',
}

interface Field {
  name: string
  in: 'path' | 'header' | 'body' | 'query' | 'json'
  schema: JsonSchema
  required: boolean
}

export function tryForm({ method, path, operation }: Entry, schemas: Schemas): Html {
  const { operationId, security, parameters = [], requestBody } = operation
  const [content] = Object.values(requestBody?.content ?? {})
  const body = content === undefined ? {} : schemaByRef(content.schema.$ref, schemas)
  const fields = [...parameters.map(parameterField), ...bodyFields(body)]
  const kinds = security.flatMap(Object.keys)
  const example = kinds.map(kind => (kind === 'server' ? 'sk_test_…' : 'pk_test_…')).join(' or ')
  const id = `try-${operationId}`
  return html`<details class="try" data-method="${method}" data-path="${path}" data-keys="${kinds.join(' ')}" hidden>
<summary>Try it<span class="unseen"> : ${operation.summary}</span></summary>
<form novalidate>
<div class="field"><label for="${id}-key">Test key</label>
<input id="${id}-key" name="key" placeholder="${example}" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="${id}-key-hint">
<p class="hint" id="${id}-key-hint">Kept in this tab until you close it, and sent nowhere but to this address. Live keys are refused.</p></div>
${fields.map(field => fieldHtml(field, `${id}-${field.name}`, schemas))}
<p class="actions"><button type="submit" class="button">Send request</button></p>
</form>
<div class="result"></div>
</details>`
}

/** The choices of the field `recipient`, once for all forms. */
export const magicRecipientList = (): Html =>
  html`<datalist id="${MAGIC_LIST}">${MAGIC_RECIPIENTS.map(
    ([number, name]) => html`<option value="${number}" label="${name}"></option>`,
  )}</datalist>`

const parameterField = ({ name, in: place, schema, required }: Parameter): Field => ({
  name,
  in: place,
  schema,
  required,
})

const bodyFields = ({ properties = {}, required = [] }: JsonSchema): Field[] =>
  Object.entries(properties).flatMap(([name, schema]): Field[] =>
    typeof schema === 'boolean'
      ? []
      : [{ name, in: isObject(schema) ? 'json' : 'body', schema, required: required.includes(name) }],
  )

const isObject = (schema: JsonSchema): boolean =>
  [schema, ...(schema.anyOf ?? [])].some(one => typeof one === 'object' && one.type === 'object')

function fieldHtml({ name, in: place, schema, required }: Field, id: string, schemas: Schemas): Html {
  const choices = choicesOf(schema, schemas)
  const hint = HINTS[name]
  const described = hint === undefined ? EMPTY_HTML : html` aria-describedby="${id}-hint"`
  const label = html`<label for="${id}">${name}${required ? EMPTY_HTML : html` <span class="kind">optional</span>`}</label>`
  const control =
    choices.length > 0
      ? html`<select id="${id}" name="${name}" data-in="${place}"><option value="">not given</option>${choices.map(
          one => html`<option>${one}</option>`,
        )}</select>`
      : html`<input id="${id}" name="${name}" data-in="${place}" value="${FIRST_VALUES[name] ?? ''}" autocomplete="off" autocapitalize="off" spellcheck="false"${
          name === 'recipient' ? html` list="${MAGIC_LIST}"` : EMPTY_HTML
        }${described}>`
  return html`<div class="field">${label}
${control}${hint === undefined ? EMPTY_HTML : html`<p class="hint" id="${id}-hint">${prose(hint)}</p>`}</div>`
}

function choicesOf(schema: JsonSchema, schemas: Schemas): string[] {
  const candidates = [schema, ...(schema.anyOf ?? [])]
  return candidates.flatMap(one => {
    if (typeof one === 'boolean') return []
    const values = one.enum ?? (one.$ref === undefined ? [] : (schemaByRef(one.$ref, schemas).enum ?? []))
    return values.map(String)
  })
}

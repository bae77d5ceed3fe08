// In: a schema of the OpenAPI document. Out: an HTML table of its members with name, kind of value and meaning. An object in it is a link
// to its own table.
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'
import { EMPTY_HTML, type Html, html, joinHtml, prose } from './html.ts'

type Schemas = Record<string, JsonSchema>

/** The anchor of the table of a named schema. */
export const schemaAnchor = (name: string): string => `schema-${name}`

/** For a list, the kind of its items. */
export function membersTable(schema: JsonSchema, schemas: Schemas): Html {
  if (schema.properties === undefined) return html`<p>${kindOf(schema, schemas)}</p>`
  const required = new Set(schema.required ?? [])
  const rows = Object.entries(schema.properties).map(([name, member]) => {
    if (typeof member === 'boolean') return EMPTY_HTML
    const optional = required.has(name) ? EMPTY_HTML : html`<br><span class="soft">optional</span>`
    const about = member.description ?? ''
    return html`<tr><th scope="row"><code>${name}</code>${optional}</th><td>${kindOf(member, schemas)}</td><td>${prose(about)}</td></tr>`
  })
  return html`<div class="wide"><table><thead><tr><th scope="col">Member</th><th scope="col">Value</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

function kindOf(schema: JsonSchema, schemas: Schemas): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    const target = schemas[name] ?? {}
    return target.properties ? html`<a href="#${schemaAnchor(name)}">${name}</a>` : kindOf(target, schemas)
  }
  if (schema.enum) return html`${schema.enum.map(String).join(', ')}`
  if (schema.const !== undefined) return html`${String(schema.const)}`
  if (schema.type === 'array') return html`list of ${kindOf(itemsOf(schema), schemas)}`
  if (schema.anyOf) return joinHtml(schema.anyOf.map(one => kindOf(typeof one === 'boolean' ? {} : one, schemas)))
  const types = [schema.type ?? 'any']
    .flat()
    .map(type => (schema.format === 'date-time' && type === 'string' ? 'time' : type))
  return html`${types.join(' or ')}`
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  return items === undefined || typeof items === 'boolean' || Array.isArray(items) ? {} : (items as JsonSchema)
}

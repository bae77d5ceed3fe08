// In: a schema of the OpenAPI document. Out: an HTML table of its members with name, kind of value and meaning.
import type { JsonSchema } from '../openapi/components.ts'
import { EMPTY_HTML, type Html, html, prose } from './html.ts'

type Schemas = Record<string, JsonSchema>

export function membersTable(schema: JsonSchema, schemas: Schemas): Html {
  const required = new Set(schema.required ?? [])
  const rows = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    if (typeof member === 'boolean') return EMPTY_HTML
    const optional = required.has(name) ? EMPTY_HTML : html`<br><span class="soft">optional</span>`
    const about = member.description ?? ''
    return html`<tr><th scope="row"><code>${name}</code>${optional}</th><td>${kindOf(member, schemas)}</td><td>${prose(about)}</td></tr>`
  })
  return html`<div class="wide"><table><thead><tr><th scope="col">Member</th><th scope="col">Value</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

function kindOf(schema: JsonSchema, schemas: Schemas): string {
  if (schema.$ref !== undefined) return kindOf(schemas[nameIn(schema.$ref)] ?? {}, schemas)
  if (schema.enum) return schema.enum.map(String).join(', ')
  if (schema.type === 'array') return `list of { ${Object.keys(itemsOf(schema, schemas).properties ?? {}).join(', ')} }`
  if (schema.format === 'date-time') return 'time'
  if (schema.type === undefined) return [...new Set(alternatives(schema, schemas))].join(' or ')
  return [schema.type].flat().join(' or ')
}

const alternatives = (schema: JsonSchema, schemas: Schemas): string[] =>
  (schema.anyOf ?? []).map(one => (typeof one === 'boolean' ? 'any' : kindOf(one, schemas)))

function itemsOf({ items }: JsonSchema, schemas: Schemas): JsonSchema {
  if (items === undefined || typeof items === 'boolean' || Array.isArray(items)) return {}
  const item = items as JsonSchema
  return item.$ref === undefined ? item : (schemas[nameIn(item.$ref)] ?? {})
}

const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

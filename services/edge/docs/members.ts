// In: a schema of the OpenAPI document. Out: an HTML list of its members with name, kind of value, bounds and meaning. The members of an
// object within it are folded up below it, or are behind a link to the object's own list.
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'
import { SETTINGS } from '../../domain/tenancy/setting-list.ts'
import { EMPTY_HTML, type Html, html, joinHtml, prose } from './html.ts'
import { inDashboard } from './layout.ts'

export type Schemas = Record<string, JsonSchema>

/** The anchor of the list of a named schema. */
export const schemaAnchor = (name: string): string => `schema-${name}`

export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

export const schemaByRef = (ref: string, schemas: Schemas): JsonSchema => schemas[nameOfRef(ref)] ?? {}

export interface MembersOptions {
  /** Begins the anchor of each member: `send` makes `send.recipient`. */
  anchor: string
  /** In a request a member is marked when it is required, in an answer when it may be absent. */
  use: 'request' | 'answer'
  /** Whether the members of an object within this one are shown below it. Otherwise they are behind its link. */
  nested: boolean
}

/** For a list, the kind of its items. */
export function membersList(schema: JsonSchema, schemas: Schemas, options: MembersOptions): Html {
  return list(schema, schemas, options, [])
}

/** `within`: the names of the objects around this one. An object within itself is a link. */
function list(
  schema: JsonSchema,
  schemas: Schemas,
  { anchor, use, nested }: MembersOptions,
  within: readonly string[],
): Html {
  if (schema.properties === undefined) return html`<p>${kindOf(schema, schemas)}</p>`
  const required = new Set(schema.required ?? [])
  const items = Object.entries(schema.properties).map(([name, member]) => {
    if (typeof member === 'boolean') return EMPTY_HTML
    const path = `${anchor}.${name}`
    const inner = nested ? objectWithin(member, schemas) : undefined
    const folded =
      inner === undefined || within.includes(inner.name)
        ? EMPTY_HTML
        : html`<details><summary>Members of <code>${name}</code></summary>${list(
            inner.schema,
            schemas,
            { anchor: path, use, nested },
            [...within, inner.name],
          )}</details>`
    return html`<li id="${path}"><div class="member"><code>${name}</code> <span class="kind">${kindOf(
      member,
      schemas,
    )}</span>${mark(required.has(name), use)} ${settingScreen(path, use)}</div>${about(member, schemas)}${folded}</li>`
  })
  return html`<ul class="members">${items}</ul>`
}

const SCREENS_OF_SETTINGS = new Map<string, string>(SETTINGS.map(({ path, screen }) => [path, screen]))

/** Where people change the setting that this member of a body changes. */
function settingScreen(path: string, use: MembersOptions['use']): Html {
  const screen = SCREENS_OF_SETTINGS.get(path.replace(/^\w+\.settings\./, ''))
  return screen && use === 'request' ? inDashboard(screen) : EMPTY_HTML
}

const mark = (isRequired: boolean, use: MembersOptions['use']): Html => {
  if (use === 'request') return isRequired ? html` <span class="required">required</span>` : EMPTY_HTML
  return isRequired ? EMPTY_HTML : html` <span class="kind">may be absent</span>`
}

/** The meaning, or that of the schema it refers to; then the bounds of the value. */
export function about(member: JsonSchema, schemas: Schemas): Html {
  const target = member.$ref === undefined ? refIn(member, schemas) : schemaByRef(member.$ref, schemas)
  const meaning = member.description ?? target?.description ?? ''
  const limits = boundsOf(member)
  if (meaning === '' && limits === '') return EMPTY_HTML
  return html`<p>${prose(meaning)}${limits === '' ? EMPTY_HTML : html` <span class="bounds">${limits}</span>`}</p>`
}

/** The meaning of an enum that may be null. */
const refIn = ({ anyOf = [] }: JsonSchema, schemas: Schemas): JsonSchema | undefined => {
  const [ref] = anyOf.flatMap(one => (typeof one === 'object' && one.$ref !== undefined ? [one.$ref] : []))
  const target = ref === undefined ? undefined : schemaByRef(ref, schemas)
  return target?.properties === undefined ? target : undefined
}

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, default: standard } = schema
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
    ...(standard === undefined ? [] : [`Default ${JSON.stringify(standard)}.`]),
  ].join(' ')
}

function range(min: number | undefined, max: number | undefined, of: string): string[] {
  if (min !== undefined && max !== undefined) return [`${min} to ${max}${of}.`]
  if (max !== undefined) return [`At most ${max}${of}.`]
  return min === undefined || (min === 0 && of !== '') ? [] : [`At least ${min}${of}.`]
}

/** The object, or the object in the list, that a member consists of. */
function objectWithin(member: JsonSchema, schemas: Schemas): { name: string; schema: JsonSchema } | undefined {
  const candidates = [member, itemsOf(member), ...(member.anyOf ?? [])]
  for (const one of candidates) {
    if (typeof one !== 'object' || one.$ref === undefined) continue
    const schema = schemaByRef(one.$ref, schemas)
    if (schema.properties) return { name: nameOfRef(one.$ref), schema }
  }
  return undefined
}

export function kindOf(schema: JsonSchema, schemas: Schemas): Html {
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref)
    const target = schemas[name] ?? {}
    return target.properties ? html`<a href="#${schemaAnchor(name)}">${name}</a>` : kindOf(target, schemas)
  }
  if (schema.enum) return joinHtml(schema.enum.map(one => html`<code>${String(one)}</code>`))
  if (schema.const !== undefined) return html`<code>${String(schema.const)}</code>`
  if (schema.anyOf) return joinHtml(schema.anyOf.map(one => kindOf(typeof one === 'boolean' ? {} : one, schemas)))
  const types = [schema.type ?? 'any'].flat().map(type => {
    if (type === 'array') return html`list of ${kindOf(itemsOf(schema), schemas)}`
    return html`${schema.format === 'date-time' && type === 'string' ? 'time' : type}`
  })
  return joinHtml(types)
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  return items === undefined || typeof items === 'boolean' || Array.isArray(items) ? {} : (items as JsonSchema)
}

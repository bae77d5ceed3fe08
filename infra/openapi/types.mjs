// The TypeScript types of an OpenAPI document, in the shape that openapi-fetch takes. In: a document of ours, in which
// every object and enum has a name. Out: the text of a module. It is JavaScript because the sources that import the
// module cannot be compiled before it is made.

const lines = (entries, indent) => entries.map(entry => `${indent}${entry}\n`).join('')

const comment = ({ description }) =>
  description ? `/** ${description.replaceAll('*/', '* /').replaceAll('\n', ' ')} */ ` : ''

const named = $ref => `components['schemas'][${JSON.stringify($ref.slice($ref.lastIndexOf('/') + 1))}]`

function typeOf(schema) {
  const { $ref, anyOf, enum: names, const: value, type } = schema
  if ($ref !== undefined) return named($ref)
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ')
  if (names !== undefined) return names.map(name => JSON.stringify(name)).join(' | ')
  if (value !== undefined) return JSON.stringify(value)
  return [type]
    .flat()
    .map(one => typeNamed(one, schema))
    .join(' | ')
}

function typeNamed(type, schema) {
  if (type === 'integer') return 'number'
  if (type === 'array') return `(${typeOf(schema.items)})[]`
  if (type === 'object') return objectType(schema)
  return type
}

function objectType({ properties, required = [], additionalProperties = false }) {
  const others = additionalProperties === true ? 'unknown' : additionalProperties && typeOf(additionalProperties)
  const members = Object.entries(properties ?? {}).map(
    ([name, schema]) =>
      `${comment(schema)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${[...members, ...(others ? [`[name: string]: ${others}`] : [])].join('; ')} }`
}

const contentType = content =>
  `{ ${Object.entries(content)
    .map(([media, { schema }]) => `'${media}': ${typeOf(schema)}`)
    .join('; ')} }`

/** Without parameters in a place, none may be given there. */
function parameterTypes(parameters, place) {
  const some = parameters.filter(one => one.in === place)
  const members = some.map(
    ({ name, required, schema }) => `${JSON.stringify(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
  )
  if (some.length === 0) return `${place}?: never`
  return `${place}${some.some(one => one.required) ? '' : '?'}: { ${members.join('; ')} }`
}

function operationType({ parameters = [], requestBody, responses }, document) {
  const places = ['query', 'header', 'path', 'cookie'].map(place => parameterTypes(parameters, place))
  const body = requestBody
    ? `requestBody${requestBody.required ? '' : '?'}: { content: ${contentType(requestBody.content)} }`
    : 'requestBody?: never'
  const answers = Object.entries(responses).map(([status, response]) => {
    const { content } = response.$ref
      ? document.components.responses[response.$ref.slice(response.$ref.lastIndexOf('/') + 1)]
      : response
    return `${status}: { ${content ? `content: ${contentType(content)}` : 'content?: never'} }`
  })
  return `{ parameters: { ${places.join('; ')} }; ${body}; responses: { ${answers.join('; ')} } }`
}

/** The schemas that `from` refers to, also through others. */
function schemasUsedBy(from, all) {
  const used = {}
  const visit = part => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used[name]) continue
      used[name] = all[name]
      visit(all[name])
    }
  }
  visit(from)
  return used
}

/** What callers of the client API and receivers of events need of a document: its schemas, without the admin API. */
export function clientPart({ paths, webhooks, components: { schemas, responses } }) {
  const called = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/'))
  return { paths: {}, components: { schemas: schemasUsedBy([called, webhooks, responses], schemas) } }
}

export function typesOf(document) {
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(
      ([method, one]) => `    ${method}: ${operationType(one, document)}\n`,
    )
    return `  '${path}': {\n${operations.join('')}  }`
  })
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema)}${name}: ${typeOf(schema)}`,
  )
  return `// Made of docs/openapi.json by infra/openapi/types.mjs.
export interface paths {
${lines(paths, '')}}

export interface components {
  schemas: {
${lines(schemas, '    ')}  }
}

/** The types of the API's objects, such as \`Schemas['Problem']\`. */
export type Schemas = components['schemas']
`
}

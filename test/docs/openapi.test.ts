// The OpenAPI document is consistent, its examples match its schemas, generators can name its types, and
// docs/openapi.json is this document. Redocly (npm run test:openapi) checks its references, its parameters and what has no use.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { type Operation, type Response, resolveResponse } from '../../infra/openapi/document.ts'
import type { JsonSchema } from '../../infra/openapi/schemas.ts'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { WEBHOOK_EVENT_TYPES } from '../../machines/webhook-events.ts'
import { createFileDocument, createTwilioFileDocument } from '../openapi/document.ts'

const document = createFileDocument()
const { components } = document

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
)
const webhooks = Object.entries(document.webhooks).map(([name, { post }]) => ({ name, operation: post }))

const responsesOf = ({ responses }: Operation): [string, Response][] =>
  Object.entries(responses).map(([status, one]) => [status, resolveResponse(document, one)])

/** Every schema, and every schema inside it, with the path to it. */
function* schemasIn(schema: JsonSchema, path: string): Generator<{ path: string; schema: JsonSchema }> {
  yield { path, schema }
  const inner: [string, unknown][] = [
    ...Object.entries(schema.properties ?? {}),
    ...(schema.anyOf ?? []).map((one, at): [string, unknown] => [`anyOf.${at}`, one]),
    ['items', schema.items],
    ['additionalProperties', schema.additionalProperties],
  ]
  for (const [name, one] of inner)
    if (typeof one === 'object' && one !== null) yield* schemasIn(one as JsonSchema, `${path}.${name}`)
}

const allSchemas = Object.entries(components.schemas).flatMap(([name, schema]) => [...schemasIn(schema, name)])

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'openapi', components })
const validators = new Map<string, ValidateFunction>()
const problemsOf = (ref: string, value: unknown): string | null => {
  const validate = validators.get(ref) ?? ajv.compile({ $ref: `openapi${ref}` })
  validators.set(ref, validate)
  return validate(value) ? null : ajv.errorsText(validate.errors)
}

/** Each example of a request or response body, with the reference to its schema. */
const examplesOf = (content: Response['content'] = {}): [string, unknown][] =>
  Object.values(content).flatMap(({ schema, example, examples = {} }) => [
    ...(example === undefined ? [] : [[schema.$ref, example] as [string, unknown]]),
    ...Object.values(examples).map(({ value }): [string, unknown] => [schema.$ref, value]),
  ])

describe('the OpenAPI document', () => {
  it('is what docs/openapi.json holds (npm run openapi writes it)', () => {
    const file = readFileSync(join(PROJECT_ROOT, 'docs/openapi.json'), 'utf8')
    expect(JSON.parse(file)).to.deep.equal(JSON.parse(JSON.stringify(document)))
  })

  it("and that of Twilio's API is what docs/openapi-twilio.json holds, with examples that match its schemas", () => {
    const twilio = createTwilioFileDocument()
    const file = readFileSync(join(PROJECT_ROOT, 'docs/openapi-twilio.json'), 'utf8')
    expect(JSON.parse(file)).to.deep.equal(JSON.parse(JSON.stringify(twilio)))
    const validator = new Ajv2020({ strict: false }).addSchema({ $id: 'twilio', components: twilio.components })
    const bodies = Object.values(twilio.paths)
      .flatMap(methods => Object.values(methods))
      .flatMap(({ requestBody, responses }) => [
        requestBody?.content,
        ...Object.values(responses).map(one => resolveResponse(twilio, one).content),
      ])
    const examples = bodies.flatMap(examplesOf)
    expect(examples).to.have.length.above(20)
    for (const [ref, example] of examples)
      expect(validator.validate({ $ref: `twilio${ref}` }, example), JSON.stringify(example)).to.equal(true)
  })

  it('names every operation once, in a way that makes a method of any language', () => {
    const ids = [...operations, ...webhooks].map(({ operation }) => operation.operationId)
    expect(new Set(ids.map(id => id.toLowerCase())).size).to.equal(ids.length)
    for (const id of ids) expect(id).to.match(/^[a-z][A-Za-z]+$/)
  })

  it('gives every operation one tag, a summary and a description', () => {
    for (const { name, operation } of [...operations, ...webhooks]) {
      const tag = name.includes('/admin/v1/') ? 'Admin' : 'Verifications'
      expect(operation.tags, name).to.deep.equal([tag])
      expect(operation.summary, name).to.match(/^[A-Z].*[^.]$/)
      expect(operation.description, name).to.match(/\.$/)
    }
  })

  it('describes every schema, in plain JSON Schema with standard formats', () => {
    for (const [name, schema] of Object.entries(components.schemas)) {
      expect(schema.description, name).to.be.a('string')
      expect(schema, name).not.to.have.any.keys('$schema', '$id')
    }
    for (const { path, schema } of allSchemas)
      if (schema.format !== undefined) expect(schema.format, path).to.be.oneOf(['date-time', 'date'])
    expect(JSON.stringify(document)).not.to.contain(String(Number.MAX_SAFE_INTEGER))
  })

  it('says the type of every schema: a generator takes one without for anything', () => {
    const untyped = allSchemas.filter(
      ({ schema }) => schema.type === undefined && schema.$ref === undefined && schema.anyOf === undefined,
    )
    expect(untyped.map(({ path }) => path)).to.deep.equal([])
  })

  it('names every enum and every object: generators make up names for the others, which collide', () => {
    const unnamed = allSchemas.filter(
      ({ path, schema }) => path.includes('.') && (schema.enum !== undefined || schema.properties !== undefined),
    )
    expect(unnamed.map(({ path }) => path)).to.deep.equal([])
  })

  it('answers every error as problem+json, under its status', () => {
    for (const { name, operation } of operations)
      for (const [status, { content }] of responsesOf(operation)) {
        if (status.startsWith('2')) continue
        const problems = content?.['application/problem+json']
        expect(problems?.schema.$ref, `${name} ${status}`).to.equal('#/components/schemas/Problem')
        for (const [type, { value }] of Object.entries(problems?.examples ?? {}))
          expect(value, `${name} ${status}`).to.deep.include({ type, status: Number(status) })
      }
  })

  it('documents the headers of every answer', () => {
    for (const { name, operation } of operations)
      for (const [status, { headers = {} }] of responsesOf(operation)) {
        expect(headers, name).to.have.property('X-Request-Id')
        expect('Retry-After' in headers, name).to.equal(['429', '503'].includes(status))
        expect('WWW-Authenticate' in headers, name).to.equal(status === '401')
      }
  })

  it('gives examples that match their schemas', () => {
    for (const { name, operation } of [...operations, ...webhooks]) {
      const contents = [operation.requestBody?.content, ...responsesOf(operation).map(([, { content }]) => content)]
      for (const content of contents) {
        const examples = examplesOf(content)
        if (content !== undefined) expect(examples, name).not.to.be.empty
        for (const [ref, value] of examples) expect(problemsOf(ref, value), `${name} ${ref}`).to.equal(null)
      }
    }
  })

  it('has a webhook for each type of event, with the headers of its signature', () => {
    expect(webhooks.map(({ name }) => name)).to.deep.equal([...WEBHOOK_EVENT_TYPES, 'webhook.test'])
    for (const { operation } of webhooks)
      expect(operation.parameters?.map(({ name }) => name)).to.deep.equal([
        'X-Webhook-Timestamp',
        'X-Webhook-Signature',
        'X-Webhook-Mode',
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ])
  })
})

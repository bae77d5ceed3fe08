// Examples of the OpenAPI document for the guides, so that a guide shows what the section of an operation shows.
import { type OpenApiDocument, resolveResponse } from '../../../../infra/openapi/document.ts'
import type { SampleRequest } from '../samples/request.ts'

export function exampleOf(document: OpenApiDocument, path: string, name: string): unknown {
  const response = document.paths[path]?.post?.responses[200]
  if (response === undefined || '$ref' in response) return undefined
  return response.content?.['application/json']?.examples?.[name]?.value
}

export const bodyOf = (document: OpenApiDocument, path: string): unknown =>
  document.paths[path]?.post?.requestBody?.content['application/json']?.example

export const call = (path: string, body: unknown, token = 'SERVER_KEY'): SampleRequest => ({
  method: 'POST',
  path,
  token,
  body,
  answers: true,
})

export function refusalOf(document: OpenApiDocument, path: string, status: number, type: string): unknown {
  const response = document.paths[path]?.post?.responses[status]
  const content = response && resolveResponse(document, response).content
  return content?.['application/problem+json']?.examples?.[type]?.value
}

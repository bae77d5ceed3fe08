// A request as a developer writes it. In: the request and the address of this deployment. Out: text for a terminal or a program.
import type { ApiRequest } from './api-request.ts'

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const
export type Language = (typeof LANGUAGES)[number]

export const sampleOf = (language: Language, origin: string, request: ApiRequest): string =>
  WRITERS[language](`${origin}${request.path}`, request)

/** For display: `sk_test_…` in place of the key. */
export const hideKey = (request: ApiRequest): ApiRequest => ({
  ...request,
  key: request.key.replace(/^([a-z]+_[a-z]+_).*$/, '$1…'),
})

type Writer = (url: string, request: ApiRequest) => string

const curl: Writer = (url, { key, body, solution }) =>
  [
    `curl -s ${inShell(url)}`,
    `-H ${inShell(`authorization: Bearer ${key}`)}`,
    ...(solution === undefined ? [] : [`-H ${inShell(`challenge-solution: ${solution}`)}`]),
    ...(body === null
      ? []
      : [`-H ${inShell('content-type: application/json')}`, `-d ${inShell(JSON.stringify(body))}`]),
  ].join(' \\\n  ')

/** A text in single quotes holds anything but a single quote. */
const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const typescript: Writer = (url, { method, key, body, solution }) => {
  const headers = [
    `    authorization: ${JSON.stringify(`Bearer ${key}`)},`,
    ...(solution === undefined ? [] : [`    'challenge-solution': '${solution}',`]),
    ...(body === null ? [] : [`    'content-type': 'application/json',`]),
  ]
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    ...headers,
    '  },',
    ...(body === null ? [] : [`  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`]),
    '})',
    'console.log(response.status, await response.json())',
  ].join('\n')
}

const python: Writer = (url, { method, key, body, solution }) =>
  [
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${JSON.stringify(url)},`,
    `    headers={"authorization": ${JSON.stringify(`Bearer ${key}`)}${solution === undefined ? '' : `, "challenge-solution": "${solution}"`}},`,
    // The JSON of a flat object of texts is also a literal of Python.
    ...(body === null ? [] : [`    json=${JSON.stringify(body, null, 4).replaceAll('\n', '\n    ')},`]),
    ')',
    'print(response.status_code, response.json())',
  ].join('\n')

const WRITERS: Readonly<Record<Language, Writer>> = { curl, TypeScript: typescript, Python: python }

// A request as a developer writes it. In: the request and the address of this deployment. Out: text for a terminal or a program.
import { writePythonCall, writeTypeScriptCall } from '../../../../domain/samples/client-samples.ts'
import type { ApiRequest } from './api-request.ts'

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const
export type Language = (typeof LANGUAGES)[number]

export const sampleOf = (language: Language, origin: string, request: ApiRequest): string =>
  WRITERS[language](origin, request)

/** For display: `sk_test_…` in place of the key. */
export const hideKey = (request: ApiRequest): ApiRequest => ({
  ...request,
  key: request.key.replace(/^([a-z]+_[a-z]+_).*$/, '$1…'),
})

type Writer = (origin: string, request: ApiRequest) => string

const curl: Writer = (origin, { path, key, body, solution }) =>
  [
    `curl -s ${inShell(`${origin}${path}`)}`,
    `-H ${inShell(`authorization: Bearer ${key}`)}`,
    ...(solution === undefined ? [] : [`-H ${inShell(`challenge-solution: ${solution}`)}`]),
    ...(body === null
      ? []
      : [`-H ${inShell('content-type: application/json')}`, `-d ${inShell(JSON.stringify(body))}`]),
  ].join(' \\\n  ')

/** A text in single quotes holds anything but a single quote. */
const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Our clients solve a challenge by themselves. */
const typescript: Writer = (base, request) => writeTypeScriptCall(request, { base, key: `'${request.key}'` }) ?? ''

const python: Writer = (base, request) => writePythonCall(request, { base, key: `"${request.key}"` }) ?? ''

const WRITERS: Readonly<Record<Language, Writer>> = { curl, TypeScript: typescript, Python: python }

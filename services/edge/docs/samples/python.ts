// A request in Python: with our client, and where that has no method for it with the library requests.
import { writePythonCall } from '../../../domain/samples/client-samples.ts'
import { PYTHON, writeLiteral } from '../../../domain/samples/literal.ts'
import type { SampleRequest } from './request.ts'

export const writePython = (request: SampleRequest, base: string): string =>
  writePythonCall(request, { base, key: `os.environ["${request.token}"]` }) ?? writeRequest(request, base)

function writeRequest(request: SampleRequest, base: string): string {
  const { method, path, token, headers = {}, body, answers } = request
  const pairs = [
    ...(token === null ? [] : [`"Authorization": f"Bearer {os.environ['${token}']}"`]),
    ...Object.entries(headers).map(([name, value]) => PYTHON.member(name, PYTHON.text(value))),
  ]
  const headerLines =
    pairs.length < 2
      ? pairs.map(pair => `    headers={${pair}},`)
      : ['    headers={', ...pairs.map(pair => `        ${pair},`), '    },']
  return [
    ...(token === null ? [] : ['import os']),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${PYTHON.text(`${base}${path}`)},`,
    ...headerLines,
    ...(body === undefined ? [] : [`    json=${writeLiteral(body, PYTHON, 1)},`]),
    '    timeout=10,',
    ')',
    'if not response.ok:',
    '    raise SystemExit(response.text)',
    answers ? 'print(response.json())' : 'print(response.status_code)',
  ].join('\n')
}

// A request in Python, with the library requests.
import { type Dialect, writeLiteral } from './literal.ts'
import type { SampleRequest } from './request.ts'

/** A JSON text is a Python text as well. */
const quote = (text: string): string => JSON.stringify(text)

const PYTHON: Dialect = {
  indent: '    ',
  text: quote,
  member: (name, value) => `${quote(name)}: ${value}`,
  nothing: 'None',
  yes: 'True',
  no: 'False',
  object: { open: '{', close: '}', space: '' },
  list: { open: '[', close: ']', space: '' },
  emptyObject: '{}',
}

export function writePython(request: SampleRequest, base: string): string {
  const { method, path, token, headers = {}, body, answers } = request
  const pairs = [
    ...(token === null ? [] : [`"Authorization": f"Bearer {os.environ['${token}']}"`]),
    ...Object.entries(headers).map(([name, value]) => PYTHON.member(name, quote(value))),
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
    `    ${quote(`${base}${path}`)},`,
    ...headerLines,
    ...(body === undefined ? [] : [`    json=${writeLiteral(body, PYTHON, 1)},`]),
    '    timeout=10,',
    ')',
    'if not response.ok:',
    '    raise SystemExit(response.text)',
    answers ? 'print(response.json())' : 'print(response.status_code)',
  ].join('\n')
}

// A request in TypeScript, with the fetch that Node, Deno, Bun and browsers have.
import { type Dialect, writeLiteral } from './literal.ts'
import type { SampleRequest } from './request.ts'

const quote = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`

const TYPESCRIPT: Dialect = {
  indent: '  ',
  text: quote,
  member: (name, value) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)}: ${value}`,
  nothing: 'null',
  yes: 'true',
  no: 'false',
  object: { open: '{', close: '}', space: ' ' },
  list: { open: '[', close: ']', space: '' },
  emptyObject: '{}',
}

export function writeTypeScript(request: SampleRequest, base: string): string {
  const { method, path, token, headers = {}, body, answers } = request
  const headerLines = [
    ...(token === null ? [] : [`Authorization: \`Bearer \${process.env.${token}}\`,`]),
    ...Object.entries(headers).map(([name, value]) => `${TYPESCRIPT.member(name, quote(value))},`),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json',"]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headerLines.length === 0 ? [] : ['  headers: {', ...headerLines.map(line => `    ${line}`), '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${writeLiteral(body, TYPESCRIPT, 1)}),`]),
  ]
  const url = quote(`${base}${path}`)
  return [
    ...(options.length === 0
      ? [`const response = await fetch(${url})`]
      : [`const response = await fetch(${url}, {`, ...options, '})']),
    `if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`)`,
    answers ? 'console.log(await response.json())' : 'console.log(response.status)',
  ].join('\n')
}

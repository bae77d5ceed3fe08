// A request in TypeScript: with our client, and where that has no method for it with the fetch that Node, Deno, Bun and browsers have.
import { writeTypeScriptCall } from '../../../domain/samples/client-samples.ts'
import { TYPESCRIPT, writeLiteral } from '../../../domain/samples/literal.ts'
import type { SampleRequest } from './request.ts'

export const writeTypeScript = (request: SampleRequest, base: string): string =>
  writeTypeScriptCall(request, { base, key: `process.env.${request.token}` }) ?? writeFetch(request, base)

function writeFetch(request: SampleRequest, base: string): string {
  const { method, path, token, headers = {}, body, answers } = request
  const headerLines = [
    ...(token === null ? [] : [`Authorization: \`Bearer \${process.env.${token}}\`,`]),
    ...Object.entries(headers).map(([name, value]) => `${TYPESCRIPT.member(name, TYPESCRIPT.text(value))},`),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json',"]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headerLines.length === 0 ? [] : ['  headers: {', ...headerLines.map(line => `    ${line}`), '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${writeLiteral(body, TYPESCRIPT, 1)}),`]),
  ]
  const url = TYPESCRIPT.text(`${base}${path}`)
  return [
    ...(options.length === 0
      ? [`const response = await fetch(${url})`]
      : [`const response = await fetch(${url}, {`, ...options, '})']),
    `if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`)`,
    answers ? 'console.log(await response.json())' : 'console.log(response.status)',
  ].join('\n')
}

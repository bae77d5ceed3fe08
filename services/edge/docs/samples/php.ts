// A request in PHP, with its curl extension.
import { type Dialect, writeLiteral } from '../../../domain/samples/literal.ts'
import type { SampleRequest } from './request.ts'

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const PHP: Dialect = {
  indent: '    ',
  text: quote,
  member: (name, value) => `${quote(name)} => ${value}`,
  nothing: 'null',
  yes: 'true',
  no: 'false',
  object: { open: '[', close: ']', space: '' },
  list: { open: '[', close: ']', space: '' },
  // An empty array would become a JSON list.
  emptyObject: 'new stdClass()',
}

export function writePhp(request: SampleRequest, base: string): string {
  const { method, path, token, headers = {}, body, answers } = request
  const headerLines = [
    ...(token === null ? [] : [`'Authorization: Bearer ' . getenv('${token}'),`]),
    ...Object.entries(headers).map(([name, value]) => `${quote(`${name}: ${value}`)},`),
    ...(body === undefined ? [] : ["'Content-Type: application/json',"]),
  ]
  return [
    '<?php',
    `$request = curl_init(${quote(`${base}${path}`)});`,
    'curl_setopt_array($request, [',
    ...(method === 'GET' ? [] : [`    CURLOPT_CUSTOMREQUEST => '${method}',`]),
    '    CURLOPT_RETURNTRANSFER => true,',
    ...(headerLines.length === 0
      ? []
      : ['    CURLOPT_HTTPHEADER => [', ...headerLines.map(line => `        ${line}`), '    ],']),
    ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => json_encode(${writeLiteral(body, PHP, 1)}),`]),
    ']);',
    '$answer = curl_exec($request);',
    'if ($answer === false) {',
    '    throw new RuntimeException(curl_error($request));',
    '}',
    '$status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);',
    'if ($status >= 400) {',
    '    throw new RuntimeException("$status: $answer");',
    '}',
    answers ? 'print_r(json_decode($answer, true));' : 'print($status);',
  ].join('\n')
}

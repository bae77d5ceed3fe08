// A request in Go, with its standard library.
import type { SampleRequest } from './request.ts'

/** A JSON text is a Go text as well. */
const quote = (text: string): string => JSON.stringify(text)

/** A text between backquotes is taken as it is, so JSON reads well in it, unless it has one itself. */
const quoteJson = (body: unknown): string => {
  const json = JSON.stringify(body, null, 2).replaceAll('\n', '\n\t')
  return json.includes('`') ? quote(JSON.stringify(body)) : `\`${json}\``
}

export function writeGo({ method, path, token, headers = {}, body }: SampleRequest, base: string): string {
  const packages = [
    'fmt',
    'io',
    'log',
    'net/http',
    ...(token === null ? [] : ['os']),
    ...(body === undefined ? [] : ['strings']),
  ]
  const headerLines = [
    ...(token === null ? [] : [`request.Header.Set("Authorization", "Bearer "+os.Getenv("${token}"))`]),
    ...Object.entries(headers).map(([name, value]) => `request.Header.Set(${quote(name)}, ${quote(value)})`),
    ...(body === undefined ? [] : ['request.Header.Set("Content-Type", "application/json")']),
  ]
  return [
    'package main',
    '',
    'import (',
    ...packages.map(name => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...(body === undefined ? [] : [`\tbody := strings.NewReader(${quoteJson(body)})`]),
    `\trequest, err := http.NewRequest("${method}", ${quote(`${base}${path}`)}, ${body === undefined ? 'nil' : 'body'})`,
    ...FATAL,
    ...headerLines.map(line => `\t${line}`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    ...FATAL,
    '\tdefer response.Body.Close()',
    '\tanswer, err := io.ReadAll(response.Body)',
    ...FATAL,
    '\tif response.StatusCode >= 400 {',
    '\t\tlog.Fatalf("%s: %s", response.Status, answer)',
    '\t}',
    '\tfmt.Println(string(answer))',
    '}',
  ].join('\n')
}

const FATAL = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}']

// Signs a call of an AWS API with Signature Version 4. In: a request. Out: the headers that prove it. The secret is not sent: it signs the
// address, the headers and the hash of the body, with the time.
import { createHash, createHmac } from 'node:crypto'

export interface AwsRequest {
  method: 'GET' | 'POST'
  url: URL
  contentType: string
  body: string
  region: string
  service: string
  access_key_id: string
  secret_access_key: string
  now: number
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text)

export function signedHeaders(request: AwsRequest): Record<string, string> {
  const { method, url, contentType, body, region, service, access_key_id, secret_access_key, now } = request
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const names = 'content-type;host;x-amz-date'
  const headers = `content-type:${contentType}\nhost:${url.host}\nx-amz-date:${time}\n`
  const canonical = [method, url.pathname, url.search.slice(1), headers, names, sha256(body)].join('\n')
  const scope = [day, region, service, 'aws4_request']
  const key = scope.reduce<string | Uint8Array>(
    (secret, part) => hmac(secret, part).digest(),
    `AWS4${secret_access_key}`,
  )
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope.join('/')}\n${sha256(canonical)}`).digest('hex')
  const credential = `${access_key_id}/${scope.join('/')}`
  return {
    'content-type': contentType,
    'x-amz-date': time,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

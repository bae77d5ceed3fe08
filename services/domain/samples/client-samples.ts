// In: a request of the client API. Out: the call of our client for TypeScript or Python that makes it; null of a request that they do not
// make. The reference and the dashboard show them.
import { PYTHON, TYPESCRIPT, wrap, writeLiteral } from './literal.ts'

export interface ClientRequest {
  method: string
  path: string
  headers?: Readonly<Record<string, string>>
  body?: unknown
}

export interface ClientAccess {
  base: string
  /** The key, as an expression of the language. */
  key: string
}

/** After the address of the API. The names of arguments are those of the body. */
const METHODS: Readonly<Record<string, string>> = {
  '/otp/send': 'send',
  '/otp/resend': 'resend',
  '/otp/verify': 'verify',
  '/otp/cancel': 'cancel',
  '/verifications/exchange': 'exchange',
  '/messages': 'messages.send',
}

interface ClientCall {
  name: string
  body: Record<string, unknown>
  idempotencyKey: string | undefined
}

function callOf({ method, path, headers = {}, body }: ClientRequest): ClientCall | null {
  const [, route = ''] = /^\/api\/v1(\/.*)$/.exec(path) ?? []
  const [, otp_id] = /^\/otp\/(otp_\w+)$/.exec(route) ?? []
  if (method === 'GET')
    return otp_id === undefined ? null : { name: 'status', body: { otp_id }, idempotencyKey: undefined }
  const name = METHODS[route]
  if (name === undefined) return null
  return { name, body: body as ClientCall['body'], idempotencyKey: headers['idempotency-key'] }
}

export function writeTypeScriptCall(request: ClientRequest, { base, key }: ClientAccess): string | null {
  const call = callOf(request)
  if (call === null) return null
  const { name, body, idempotencyKey } = call
  const options = idempotencyKey === undefined ? [] : [{ idempotencyKey }]
  const given = [body, ...options].map(one => writeLiteral(one, TYPESCRIPT)).join(', ')
  return [
    "import { Countersign } from 'countersign'",
    '',
    `const countersign = new Countersign({ key: ${key}, baseUrl: ${TYPESCRIPT.text(base)} })`,
    `console.log(await countersign.${name}(${given}))`,
  ].join('\n')
}

export function writePythonCall(request: ClientRequest, { base, key }: ClientAccess): string | null {
  const call = callOf(request)
  if (call === null) return null
  const { name, body, idempotencyKey } = call
  const given = Object.entries({
    ...body,
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  })
  const named = given.map(([argument, value]) => `${argument}=${writeLiteral(value, PYTHON, 1)}`)
  return [
    ...(key.startsWith('os.') ? ['import os'] : []),
    'from countersign import Countersign',
    '',
    `client = Countersign(${key}, base_url=${PYTHON.text(base)})`,
    `print(client.${name}${wrap(named, { open: '(', close: ')', space: '' }, PYTHON.indent, 0)})`,
  ].join('\n')
}

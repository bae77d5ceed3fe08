// Parses the address of a call. In: a URL or host as a tenant or an operator wrote it. Out: the target to connect to, or `ForbiddenTarget`
// for one that is never called. Nothing is looked up: connector.ts checks the host's addresses when the socket connects.
import { isIP } from 'node:net'
import { ForbiddenTarget } from './outbound.ts'

export interface Target {
  /** Scheme, host and port. Calls to one origin share connections. */
  origin: string
  path: string
  host: string
}

/** `plainHttp`: whether the operator allows it for some addresses. `new URL` rewrites every notation of an IPv4 address
 *  (decimal, octal, hex, short) as four decimal numbers. */
export function targetOf(address: string, { plainHttp }: { plainHttp: boolean }): Target {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null) throw new ForbiddenTarget('not a URL')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new ForbiddenTarget('not an http(s) URL')
  if (url.protocol === 'http:' && !plainHttp) throw new ForbiddenTarget('plain http is not allowed')
  if (url.username !== '' || url.password !== '') throw new ForbiddenTarget('the URL holds a user or password')
  if (url.port === '0') throw new ForbiddenTarget('port 0 cannot be called')
  return { origin: url.origin, path: `${url.pathname}${url.search}`, host: unbracketed(url.hostname) }
}

/** A host name or address without a scheme, as in an SMTP config, in the notation that `targetOf` uses. */
export function hostOf(text: string): string {
  if (isIP(text) === 6) return text
  const url = URL.canParse(`https://${text}/`) ? new URL(`https://${text}/`) : null
  if (url === null || url.href !== `https://${url.hostname}/`) throw new ForbiddenTarget('not a host name')
  return unbracketed(url.hostname)
}

const unbracketed = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

// Whom a URL names. In: an address as a tenant or an operator wrote it. Out: what to connect to, or `ForbiddenTarget` when it is not
// one that is ever called. Whether the host may be called is decided where the socket connects; nothing is looked up here.
import { isIP } from 'node:net'
import { ForbiddenTarget } from './outbound.ts'

export interface Target {
  /** Scheme, host and port: what connections are shared by. */
  origin: string
  path: string
  host: string
}

/** `plainHttp`: there are addresses where it is allowed. `new URL` writes every notation of an IPv4 address (decimal, octal, hex, short) as four decimal numbers. */
export function targetOf(address: string, { plainHttp }: { plainHttp: boolean }): Target {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null) throw new ForbiddenTarget('not a URL')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new ForbiddenTarget('not an http(s) URL')
  if (url.protocol === 'http:' && !plainHttp) throw new ForbiddenTarget('plain http is not allowed')
  if (url.username !== '' || url.password !== '') throw new ForbiddenTarget('the URL holds a user or password')
  if (url.port === '0') throw new ForbiddenTarget('port 0 is nobody')
  return { origin: url.origin, path: `${url.pathname}${url.search}`, host: unbracketed(url.hostname) }
}

/** A bare host name or address, as SMTP is configured with, in the same one notation. */
export function hostOf(text: string): string {
  if (isIP(text) === 6) return text
  const url = URL.canParse(`https://${text}/`) ? new URL(`https://${text}/`) : null
  if (url === null || url.href !== `https://${url.hostname}/`) throw new ForbiddenTarget('not a host name')
  return unbracketed(url.hostname)
}

const unbracketed = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

// Who asks for passkeys, as WebAuthn names it. In: PUBLIC_URL. Out: its host and its origin; null where browsers offer no passkeys: without
// PUBLIC_URL, where its host is an IP address, and over plain http, except on the machine itself.
import { isIP } from 'node:net'

export interface RelyingParty {
  id: string
  origin: string
}

export function relyingPartyOf(publicUrl: string | null): RelyingParty | null {
  if (publicUrl === null) return null
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isAddress = isIP(hostname) !== 0 || hostname.startsWith('[')
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  return isAddress || !isSecure ? null : { id: hostname, origin }
}

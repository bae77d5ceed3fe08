// Mail addresses with their domain in ASCII, because not every server and vendor accepts an internationalized one.
import { domainToASCII } from 'node:url'

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

export function toAscii(address: string): string {
  const domain = domainOf(address)
  return address.slice(0, address.length - domain.length) + (domainToASCII(domain) || domain)
}

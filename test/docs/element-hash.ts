// The hash of /element.js, by which a browser knows the file. In: a page of docs/. Out: the page with the hash of the built file.
import { createHash } from 'node:crypto'
import { readBuiltSite } from '../../infra/web/built-site.ts'

/** As an `integrity` attribute has it. */
export function elementHash(): string {
  const file = readBuiltSite('element')?.get('/element.js')
  if (!file) throw new Error('the element is not built')
  return `sha384-${createHash('sha384').update(file.plain).digest('base64')}`
}

export const withElementHash = (page: string): string =>
  page.replace(/integrity="[^"]*"/, `integrity="${elementHash()}"`)

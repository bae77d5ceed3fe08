// Where a viewer goes after signing in. In: `next` of the address. Out: the path of a screen or of a verification, with its query; never
// an address elsewhere, and not the sign-in page again.
import { readPlace } from '../../../screens.ts'

const FIRST_SCREEN = '/overview'
/** It has no meaning but to resolve paths against. */
const OWN_ORIGIN = 'https://own.invalid'

/** Browsers read `/\evil.example` and `/<tab>/evil.example` as `//evil.example`, so the answer is what a URL parser made of the text. */
export function nextPath(next: string | undefined): string {
  if (!next?.startsWith('/') || !URL.canParse(next, OWN_ORIGIN)) return FIRST_SCREEN
  const { origin, pathname, search, hash } = new URL(next, OWN_ORIGIN)
  return origin === OWN_ORIGIN && readPlace(pathname) !== null ? `${pathname}${search}${hash}` : FIRST_SCREEN
}

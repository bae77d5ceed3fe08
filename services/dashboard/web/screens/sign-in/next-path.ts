// Where a viewer goes after signing in. In: `next` of the address. Out: a path of this site; never an address elsewhere, and not the
// sign-in page again.
import { SIGN_IN_PATH } from '../../../screens.ts'

const FIRST_SCREEN = '/overview'
/** It has no meaning but to resolve paths against. */
const OWN_ORIGIN = 'https://own.invalid'

/** Browsers read `/\evil.example` and `/<tab>/evil.example` as `//evil.example`, so the answer is what a URL parser made of the text. */
export function nextPath(next: string | undefined): string {
  if (!next?.startsWith('/') || !URL.canParse(next, OWN_ORIGIN)) return FIRST_SCREEN
  const { origin, pathname, search, hash } = new URL(next, OWN_ORIGIN)
  const isOwn = origin === OWN_ORIGIN && !pathname.startsWith('//')
  return isOwn && pathname !== '/' && pathname !== SIGN_IN_PATH ? `${pathname}${search}${hash}` : FIRST_SCREEN
}

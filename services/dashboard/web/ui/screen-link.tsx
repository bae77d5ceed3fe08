// A link to another screen. In: its path as in SCREENS, with what follows it. Out: a link whose address names the app or company that is
// shown, so that it means the same in another tab.
import type { ComponentChildren } from 'preact'
import { useAddress } from '../data/tenant.tsx'

export interface ScreenLinkProps {
  to: string
  /** Where it may be about another app than the one that is shown. */
  ofApp?: string
  class?: string
  /** A new tab, for a look that leaves the screen as it is. */
  target?: '_blank'
  'aria-label'?: string
  'aria-current'?: 'page' | undefined
  children: ComponentChildren
}

export function ScreenLink({ to, ofApp, ...rest }: ScreenLinkProps) {
  const addressOf = useAddress()
  return <a {...rest} href={addressOf(to, ofApp)} />
}

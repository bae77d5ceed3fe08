// The screens of the dashboard: their paths and their links in the navigation. The server answers each path with the same page, in
// which web/ shows the screen.

export interface Screen {
  path: string
  /** The link in the navigation, and the heading of the screen. */
  name: string
  /** The lowest role that may use it. */
  role: 'viewer' | 'operator'
}

export const SCREENS = [
  { path: '/overview', name: 'Overview', role: 'viewer' },
  { path: '/verifications', name: 'Verifications', role: 'viewer' },
  { path: '/api-keys', name: 'API Keys', role: 'viewer' },
  { path: '/routing', name: 'Routing', role: 'viewer' },
  { path: '/providers', name: 'Providers', role: 'viewer' },
  { path: '/limits', name: 'Limits and fraud', role: 'viewer' },
  { path: '/money', name: 'Money', role: 'viewer' },
  { path: '/team', name: 'Team', role: 'viewer' },
  { path: '/audit', name: 'Audit', role: 'viewer' },
  { path: '/queues', name: 'Queues', role: 'operator' },
  { path: '/privacy', name: 'Privacy', role: 'viewer' },
  { path: '/try', name: 'Try it', role: 'viewer' },
] as const satisfies readonly Screen[]

export type ScreenPath = (typeof SCREENS)[number]['path']

export const SIGN_IN_PATH = '/sign-in'

/** Of one verification. */
export const VERIFICATION_PATH = '/verifications/:id'

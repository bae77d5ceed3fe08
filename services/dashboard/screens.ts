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

/** The list of verifications. */
export const VERIFICATIONS_PATH: ScreenPath = '/verifications'

/** Of one verification, for a router. */
export const VERIFICATION_PATH = `${VERIFICATIONS_PATH}/:id`

/** Of this verification. */
export const verificationPath = (otp_id: string): string => `${VERIFICATIONS_PATH}/${encodeURIComponent(otp_id)}`

/** The name of the link to a screen, in a sentence that sends the viewer there. */
export const linkToScreen = (path: ScreenPath): string => `Open ${SCREENS.find(screen => screen.path === path)?.name}`

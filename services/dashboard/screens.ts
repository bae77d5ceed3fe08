// The screens of the dashboard: their addresses and their links in the navigation. The server answers each address with
// the same page, in which web/ shows the screen. An address says which app or company its screen is about:
// `/a/{app_id}/overview`, `/c/{company_id}/money`. The path of a screen alone, such as `/overview`, leads to the app
// used last.

export interface Screen {
  /** Without the app or company. */
  path: string
  /** The link in the navigation, and the heading of the screen. */
  name: string
  /** The lowest role that may use it. */
  role: 'viewer' | 'operator'
  /** What its address names. */
  of: 'app' | 'company' | 'deployment'
}

export const SCREENS = [
  { path: '/overview', name: 'Overview', role: 'viewer', of: 'app' },
  { path: '/verifications', name: 'Verifications', role: 'viewer', of: 'app' },
  { path: '/api-keys', name: 'API Keys', role: 'viewer', of: 'app' },
  { path: '/webhooks', name: 'Webhooks', role: 'viewer', of: 'app' },
  { path: '/routing', name: 'Routing', role: 'viewer', of: 'app' },
  { path: '/providers', name: 'Providers', role: 'viewer', of: 'app' },
  { path: '/limits', name: 'Limits and fraud', role: 'viewer', of: 'app' },
  { path: '/settings', name: 'Settings', role: 'viewer', of: 'app' },
  { path: '/money', name: 'Money', role: 'viewer', of: 'company' },
  { path: '/team', name: 'Team', role: 'viewer', of: 'company' },
  { path: '/audit', name: 'Audit', role: 'viewer', of: 'company' },
  { path: '/queues', name: 'Queues', role: 'operator', of: 'deployment' },
  { path: '/privacy', name: 'Privacy', role: 'viewer', of: 'company' },
  { path: '/try', name: 'Try it', role: 'viewer', of: 'app' },
] as const satisfies readonly Screen[]

export const screensFor = (role: string | null): readonly Screen[] =>
  SCREENS.filter(screen => screen.role === 'viewer' || role === 'operator')

export type ScreenPath = (typeof SCREENS)[number]['path']

export const SIGN_IN_PATH = '/sign-in'

/** The list of verifications. */
export const VERIFICATIONS_PATH: ScreenPath = '/verifications'

/** The path of one verification, for a router. */
export const VERIFICATION_PATH = `${VERIFICATIONS_PATH}/:id`

/** The path of this verification. */
export const verificationPath = (otp_id: string): string => `${VERIFICATIONS_PATH}/${encodeURIComponent(otp_id)}`

/** The name of the link to a screen, in a sentence that sends the viewer there. */
export const linkToScreen = (path: ScreenPath): string => `Open ${SCREENS.find(screen => screen.path === path)?.name}`

const IN_APP = '/a'
const IN_COMPANY = '/c'

/** Every path at which the server has a page, for its router. A company's address of an app's screen leads to one of its apps. */
export const PAGE_PATHS: readonly string[] = [
  '/',
  SIGN_IN_PATH,
  ...[...SCREENS, { path: VERIFICATION_PATH, of: 'app' }].flatMap(({ path, of }) =>
    of === 'deployment' ? [path] : [path, `${IN_APP}/:app_id${path}`, `${IN_COMPANY}/:company_id${path}`],
  ),
]

/** Where the screen is shown, for the router of the pages. */
export function patternOf(path: ScreenPath | typeof VERIFICATION_PATH): string {
  const of = screenAt(path)?.of
  if (of === 'deployment') return path
  return of === 'company' ? `${IN_COMPANY}/:company_id${path}` : `${IN_APP}/:app_id${path}`
}

/** What an address says. */
export interface Place {
  screen: Screen
  /** The path without the app or company, such as `/verifications/otp_1`. */
  path: string
  /** Null where the address names none. */
  app_id: string | null
  company_id: string | null
}

/** Null for an address that is not a screen's. */
export function readPlace(pathname: string): Place | null {
  const [, kind, id, path = ''] = /^(?:(\/[ac])\/([^/]+))?(\/.+)$/.exec(pathname) ?? []
  const screen = screenAt(path)
  const named = id === undefined ? null : decoded(id)
  if (screen === undefined || (id !== undefined && (named === null || screen.of === 'deployment'))) return null
  return {
    screen,
    path,
    app_id: kind === IN_APP ? named : null,
    company_id: kind === IN_COMPANY ? named : null,
  }
}

/** The address of a screen for an app and its company. In: a path as in SCREENS, with what follows it: `/verifications?tab=refusals`. Where
 *  only one of the two is known, the address names that one and leads on; with neither, it is the path itself. */
export function addressIn(
  { app_id, company_id }: { app_id: string | null; company_id: string | null },
  path: string,
): string {
  const of = screenAt(path.replace(/[?#].*$/, ''))?.of
  const inApp = app_id === null ? null : `${IN_APP}/${encodeURIComponent(app_id)}${path}`
  const inCompany = company_id === null ? null : `${IN_COMPANY}/${encodeURIComponent(company_id)}${path}`
  if (of === 'app') return inApp ?? inCompany ?? path
  return of === 'company' ? (inCompany ?? inApp ?? path) : path
}

function screenAt(path: string): Screen | undefined {
  const [, list, rest] = /^(\/[^/]+)\/([^/]+)$/.exec(path) ?? []
  const own = list === VERIFICATIONS_PATH && rest !== undefined ? list : path
  return SCREENS.find(screen => screen.path === own)
}

/** Null where it holds a percent sign that is no escape. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

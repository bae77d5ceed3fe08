// In: the OpenAPI document. Out: its operations in the order and the groups in which the reference shows them.
import type { OpenApiDocument, Operation } from '../../../infra/openapi/document.ts'
import { PROVIDER_TYPES } from '../../domain/tenancy/provider-types/list.ts'

export interface Entry {
  method: string
  path: string
  operation: Operation
}

export interface Group {
  name: string
  /** The anchor of the group. */
  id: string
  keywords: string
  entries: Entry[]
}

export const entriesOf = (document: OpenApiDocument, tag: string): Entry[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

/** The subject of each last segment of a path. A segment that is not here, such as `replay`, belongs to the one before it. */
const SUBJECTS: Record<string, string> = {
  companies: 'Companies',
  credit: 'Money',
  ledger: 'Money',
  reconciliation: 'Money',
  prices: 'Money',
  apps: 'Apps',
  keys: 'API keys',
  providers: 'Providers and routing',
  route: 'Providers and routing',
  routes: 'Providers and routing',
  settings: 'Trying settings',
  webhook: 'Webhooks and events',
  events: 'Webhooks and events',
  verifications: 'Verifications and refusals',
  refusals: 'Verifications and refusals',
  stats: 'Statistics',
  health: 'Statistics',
  fraud: 'Fraud',
  'ip-lists': 'Fraud',
  sandbox: 'Sandbox',
  erase: 'Privacy',
  privacy: 'Privacy',
  audit: 'Audit',
  queues: 'Queues',
  'sign-in': 'Sign-in and sessions',
  'sign-out': 'Sign-in and sessions',
  me: 'Sign-in and sessions',
  sessions: 'Sign-in and sessions',
  session: 'Sign-in and sessions',
  users: 'Team',
  invitations: 'Team',
}

const OTHER_SUBJECT = 'More'

/** The screen of the dashboard where people do the same, by the subject, or by the operation where it has another. */
const SCREENS: Record<string, string> = {
  Companies: '/team',
  Money: '/money',
  Apps: '/settings',
  listApps: '/team',
  createApp: '/team',
  getAppHealth: '/overview',
  'API keys': '/api-keys',
  'Providers and routing': '/providers',
  explainRoute: '/routing',
  listRoutes: '/routing',
  'Trying settings': '/limits',
  'Webhooks and events': '/webhooks',
  'Verifications and refusals': '/verifications',
  Statistics: '/overview',
  Fraud: '/limits',
  Sandbox: '/try',
  Privacy: '/privacy',
  Audit: '/audit',
  Queues: '/queues',
  listSessions: '/team',
  endSessions: '/team',
  endSession: '/team',
  Team: '/team',
  send: '/try',
  resend: '/try',
  verify: '/try',
  status: '/verifications',
}

/** Other words that readers search for. */
const KEYWORDS: Record<string, string> = {
  Apps: 'own text, own texts, message text, template, settings',
  Money: 'billing, balance, refund, cost, invoice',
  'Providers and routing': ['vendor', 'gateway', 'provider by country', 'India', ...PROVIDER_TYPES].join(', '),
  'Verifications and refusals': 'resend operator, resend by an operator, cancel by an operator',
  Privacy: 'gdpr, right to be forgotten, delete personal data, erasure',
  Team: 'people, roles, members',
  'Trying settings': 'replay, what if, simulation, past traffic',
  Statistics: 'analytics, metrics, conversion, reports',
}

export const screenOf = ({ path, operation }: Entry): string | undefined =>
  SCREENS[operation.operationId] ?? (operation.tags.includes('Admin') ? SCREENS[subjectOf(path)] : undefined)

function subjectOf(path: string): string {
  const segment = path.split('/').findLast(one => Object.hasOwn(SUBJECTS, one)) ?? ''
  return SUBJECTS[segment] ?? OTHER_SUBJECT
}

/** The operations of the admin API by subject, in the order in which the subjects first come. */
export function adminGroups(document: OpenApiDocument): Group[] {
  const groups = new Map<string, Group>()
  for (const entry of entriesOf(document, 'Admin')) {
    const name = subjectOf(entry.path)
    const id = `admin-${name.toLowerCase().replaceAll(' ', '-')}`
    const group = groups.get(name) ?? { name, id, keywords: KEYWORDS[name] ?? '', entries: [] }
    group.entries.push(entry)
    groups.set(name, group)
  }
  return [...groups.values()]
}

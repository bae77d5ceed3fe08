// What `npm start -- --help` prints. In: the tables of roles and settings. Out: a text. Every variable is in
// docs/configuration.md; these are the ones that most deployments set.
import { defaultOf, ROLES, type Role, type Variable } from './config.ts'
import { SECRET_VARIABLES } from './variables.ts'

export const asksForHelp = (words: readonly string[]): boolean => words.includes('--help') || words.includes('-h')

const ROLE_TEXTS: Readonly<Record<Role, string>> = {
  edge: "the client API, and vendors' callbacks",
  otp: 'verifications: codes, limits, fraud guard, money',
  'channel:sms': 'text messages',
  'channel:whatsapp': 'WhatsApp messages',
  'channel:telegram': 'Telegram messages',
  'channel:email': 'email',
  webhook: "events to your backends' endpoints",
  sweeper: 'what falls due: expiry, repairs, retention, rotation of keys',
  dashboard: 'the admin API and its pages',
}

const MOST_USED: readonly [Variable, string][] = [
  ['HOST', 'the address to listen on; 0.0.0.0 for all'],
  ['PORT', 'the port to listen on; 0 for any free one'],
  ['PUBLIC_URL', 'where clients and vendors reach this deployment'],
  ['MONGODB_URL', 'the store; without it and AMQP_URL, everything is embedded'],
  ['AMQP_URL', 'RabbitMQ; several nodes are separated by commas'],
  ['ENGINE', 'embedded: runs on the embedded engines in production too'],
  ['DATA_DIR', 'the folder of the embedded store and of development secrets'],
  ['BOOTSTRAP_FILE', 'companies, apps and keys to begin with, as JSON'],
  ['NODE_ENV', 'production: needs all secrets, makes none'],
  ['CODE_SECRETS', 'id:base64 of at least 32 bytes, comma-separated; the first is used'],
  ['DATA_KEYS', 'id:base64 of 32 bytes, comma-separated; the first seals, all open'],
  ['ADMIN_TOKEN', "an operator's token, or name:token, comma-separated"],
  ['ALLOW_PRIVATE_TARGETS', 'ranges in which providers and endpoints may have private addresses; 1: all'],
  ['TRUSTED_PROXIES', 'ranges of your proxies, whose X-Forwarded-For is believed'],
  ['METRICS_PORT', 'a port with /metrics for everyone'],
  ['METRICS_TOKEN', 'a token for /metrics alone'],
  ['LOG_LEVEL', 'trace, debug, info, warn, error, fatal, silent'],
]

export function helpText(): string {
  return [
    'Countersign: verification codes by SMS, WhatsApp, Telegram and email.',
    '',
    'npm start -- [role …]      runs these roles; without a name, all of them',
    'npm start -- --help        prints this',
    '',
    'Roles',
    ...ROLES.map(role => `  ${role.padEnd(18)} ${ROLE_TEXTS[role]}`),
    '',
    'The most used variables of the environment, with their defaults',
    ...MOST_USED.map(([name, text]) => `  ${name.padEnd(22)} ${shownDefault(name).padEnd(12)} ${text}`),
    '',
    `Secrets can also be given in a file that a variable names: ${SECRET_VARIABLES.map(name => `${name}_FILE`).join(', ')}.`,
    '',
    'All variables: docs/configuration.md. Log lines: docs/logs.md. Settings of an app: docs/settings.md. The API: /docs of a running process.',
    '',
  ].join('\n')
}

function shownDefault(name: Variable): string {
  const value = defaultOf(name)
  if (value === null) return 'off'
  const text = value === undefined ? '' : String(value)
  return text === '' ? '-' : text
}

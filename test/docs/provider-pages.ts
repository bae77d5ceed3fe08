// The part of docs/providers.md that is made from the declarations of provider types.
import { CHANNEL_NAMES } from '../../services/dashboard/web/data/channels.ts'
import type { ErrorCodes } from '../../services/domain/tenancy/provider-types/declaration.ts'
import {
  channelsOf,
  declarationOf,
  type FieldAtPath,
  fieldsOf,
  PROVIDER_TYPES,
  type ProviderType,
} from '../../services/domain/tenancy/provider-types/list.ts'

const BEGIN = '<!-- From here: written by npm run openapi, from services/domain/tenancy/provider-types -->\n'
const END = '<!-- Until here -->\n'

/** The page as it should be. */
export function withProviderTypes(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN)
  return `${before}${BEGIN}\n${[typesTable(), ...PROVIDER_TYPES.map(typeSection)].join('\n\n')}\n\n${END}${rest.split(END)[1] ?? ''}`
}

const typesTable = (): string =>
  [
    '| `type` | Channel | What it is |',
    '|---|---|---|',
    ...PROVIDER_TYPES.map(type => `| \`${type}\` | ${channelWords(type)} | ${declarationOf(type).about} |`),
  ].join('\n')

const channelWords = (type: ProviderType): string => {
  const [only = 'sms', ...others] = channelsOf(type)
  return others.length > 0 ? 'any, set by `channel`' : CHANNEL_NAMES[only]
}

function typeSection(type: ProviderType): string {
  const { label, where, site, callback, errors = {}, documents = [] } = declarationOf(type)
  const fields = fieldsOf(type)
  const lines = [
    `### ${label}`,
    ...(fields.length === 0
      ? []
      : [`\`${type}\`. ${where}${site ? ` [${site.label}](${site.url})` : ''}`, membersTable(type)]),
    ...(fields.length === 0 ? [`\`${type}\`. ${where} It plays receipts itself.`] : []),
    ...(callback ? [`Callback address: ${callback.words}`] : []),
    ...codesLine("Errors that are the recipient's fault", errors.recipient),
    ...codesLine('The recipient asked for no more messages (unsubscribed)', errors.unsubscribed),
    ...codesLine('In receipts, the recipient could not be reached', errors.unreachable),
    ...codesLine('Withdrawn', errors.superseded),
    ...codesLine('Errors of the destination, which the next provider may reach', errors.destination),
    ...(documents.length > 0 ? [`Documentation: ${documents.map(url => `<${url}>`).join(', ')}.`] : []),
  ]
  return lines.join('\n\n')
}

const membersTable = (type: ProviderType): string =>
  [
    '| Member | Default | What it is |',
    '|---|---|---|',
    ...fieldsOf(type).map(field => `| \`${field.path}\` | ${defaultWords(type, field)} | ${fieldWords(field)} |`),
  ].join('\n')

function defaultWords(
  type: ProviderType,
  { path, required, default: usual, defaultWhen, onlyWith }: FieldAtPath,
): string {
  const oneOf: readonly string[] = declarationOf(type).oneOf ?? []
  if (required) return path.includes('.') ? `required with \`${path.split('.')[0]}\`` : 'required'
  if (oneOf.includes(path)) return `this or \`${oneOf.find(name => name !== path)}\``
  if (onlyWith !== undefined) return `required with \`${onlyWith}\``
  if (usual === undefined) return ''
  const words = `\`${typeof usual === 'string' ? usual : JSON.stringify(usual)}\``
  return defaultWhen ? `${words}; \`${defaultWhen.default}\` with \`${defaultWhen.switch}\`` : words
}

const fieldWords = ({ label, hint, secret, receipts, minNew }: FieldAtPath): string =>
  [
    `${label}.`,
    hint ?? [],
    secret ? 'Secret.' : [],
    minNew ? `A new one has at least ${minNew} characters.` : [],
    receipts ? 'For receipts.' : [],
  ]
    .flat()
    .join(' ')

const codesLine = (words: string, codes: ErrorCodes = {}): string[] => {
  const listed = Object.entries(codes).map(([code, meaning]) => `\`${code}\` (${meaning})`)
  return listed.length === 0 ? [] : [`${words}: ${listed.join(', ')}.`]
}

// The roles a process can play, named on the command line. Without names it plays all of them.
import type { SettingProblem } from './problems.ts'

export const ROLES = [
  'edge',
  'otp',
  'channel:sms',
  'channel:whatsapp',
  'channel:telegram',
  'channel:email',
  'webhook',
  'sweeper',
  'dashboard',
] as const

export type Role = (typeof ROLES)[number]

const unknownWord = (word: string): string =>
  word.startsWith('-')
    ? `there is no option ${word}: there is --help, and the roles are ${ROLES.join(', ')}`
    : `"${word}" is none of ${ROLES.join(', ')}`

export function readRoles(names: readonly string[]): { roles: readonly Role[]; problems: SettingProblem[] } {
  const roles = ROLES.filter(role => names.includes(role))
  const unknown = names.filter(name => !ROLES.some(role => role === name))
  const repeated = roles.filter(role => names.indexOf(role) !== names.lastIndexOf(role))
  return {
    roles: names.length === 0 ? ROLES : roles,
    problems: [
      ...unknown.map(name => ({ name: 'roles', message: unknownWord(name) })),
      ...repeated.map(role => ({ name: 'roles', message: `"${role}" is named twice` })),
    ],
  }
}

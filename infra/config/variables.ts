// In: the environment. Out: the text of every variable that we know, without surrounding space and without empty ones. The text of a secret
// may be in a file that the variable's twin names (CODE_SECRETS_FILE): what is in the environment is inherited by child processes and shown
// by process lists and crash reports.
import { readFileSync } from 'node:fs'
import type { SettingProblem } from './problems.ts'

/** The variables with a twin. The URLs of the engines hold passwords. */
export const SECRET_VARIABLES = [
  'MONGODB_URL',
  'AMQP_URL',
  'CODE_SECRETS',
  'DATA_KEYS',
  'ADMIN_TOKEN',
  'METRICS_TOKEN',
] as const

export type Environment = Readonly<Record<string, string | undefined>>

export interface Variables<Name extends string> {
  readonly texts: Readonly<Partial<Record<Name, string>>>
  readonly problems: readonly SettingProblem[]
  /** Whether the operator has set the variable or its twin, even if the file cannot be read. */
  isGiven(name: Name): boolean
  /** The variable that a problem concerns: the twin if the text comes from its file. */
  givenAs(name: string): string
}

const twinOf = (name: string): string => `${name}_FILE`

/** `unused` variables are left out, and their files are not opened: this process may not be allowed to read them. */
export function readVariables<Name extends string>(
  env: Environment,
  names: readonly Name[],
  unused: readonly string[],
): Variables<Name> {
  const isUsed = (name: string): boolean => !unused.includes(name)
  const texts = new Map(names.filter(isUsed).flatMap(name => entryOf(env, name)))
  const files = new Map(SECRET_VARIABLES.filter(isUsed).flatMap(name => entryOf(env, twinOf(name), name)))
  const problems: SettingProblem[] = []
  for (const [name, path] of files) {
    const content = texts.has(name)
      ? { problem: `must not be set together with ${name}: choose one` }
      : readSecretFile(path)
    if ('problem' in content) problems.push({ name: twinOf(name), message: content.problem })
    else texts.set(name, content.text)
  }
  return {
    texts: Object.fromEntries(texts) as Partial<Record<Name, string>>,
    problems,
    isGiven: name => texts.has(name) || files.has(name),
    givenAs: name => (files.has(name) ? twinOf(name) : name),
  }
}

/** The name and the text of a variable; none if it is absent or empty. */
function entryOf(env: Environment, variable: string, name = variable): [string, string][] {
  const text = env[variable]?.trim()
  return text ? [[name, text]] : []
}

function readSecretFile(path: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(path, 'utf8').trim()
    return text === '' ? { problem: `${shownPath(path)} is empty` } : { text }
  } catch (error) {
    return { problem: `${shownPath(path)} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}` }
  }
}

/** An operator may write the secret itself where its path should be. */
const shownPath = (path: string): string =>
  /^\.{0,2}\//.test(path) ? path : 'the file that it names (not shown here: it does not begin with / or ./)'

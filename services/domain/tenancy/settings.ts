// In: an app's settings as an operator wrote them; every member is optional. Out: complete settings, or every problem with its path.
// Settings are stored as they were written. Defaults are resolved when they are read, so that a new default reaches every app that has
// not set the member.
import { Buffer } from 'node:buffer'
import { z } from 'zod'
import { countValues, isJsonObject } from '../../../infra/json-object.ts'
import { type AppSettings, declaredSettings, withDerivedDefaults } from '../../../machines/settings.ts'
import { exceedsGuessBudget, type GuessSettings, guessBudget, guessesPerDay, MIN_GUESS_ODDS } from './guess-budget.ts'
import { resolveDefaults } from './parse-stored.ts'
import { dottedPath, type InputProblem } from './problems.ts'

const { verify_attempts, code, limits, channels } = declaredSettings.shape
const { recipient, recipient_verify } = limits.unwrap().shape
const { whatsapp } = channels.unwrap().shape

// zod skips a rule between members if any member has a problem. These schemas say for each rule whether the members that it reads have one.
const codeMembers = z.object({ verify_attempts, code: z.object({ length: code.unwrap().shape.length }).prefault({}) })
const guessMembers = codeMembers.extend({ limits: z.object({ recipient, recipient_verify }).prefault({}) })
const linkMembers = z.object({ channels: z.object({ whatsapp }) })

/** Runs a rule where `members` have no problem. */
const where = (members: z.ZodType) => (payload: { value: unknown }) => members.safeParse(payload.value).success

/** Settings as they are loaded: they were checked when they were written. */
export const settingsSchema = declaredSettings.transform(withDerivedDefaults)

/** Every rule of a list is a window to count in, so a long list makes each send slow. */
const MAX_RULES = 10

/** Settings as they are written, by a patch or a bootstrap file. */
export const writtenSettingsSchema = declaredSettings
  .refine(settings => settings.verify_attempts * 2_000 <= 10 ** settings.code.length, {
    path: ['verify_attempts'],
    message: 'allows too many guesses at so short a code: attempts ÷ 10^length must not exceed 1/2000',
    when: where(codeMembers),
  })
  .refine(settings => !exceedsGuessBudget(settings), {
    path: ['limits', 'recipient_verify'],
    error: ({ input }) => guessProblem(input as AppSettings),
    when: where(guessMembers),
  })
  .superRefine(({ limits }, context) => {
    for (const [name, list] of Object.entries(limits))
      if (Array.isArray(list) && list.length > MAX_RULES)
        context.addIssue({ code: 'custom', path: ['limits', name], message: `has more than ${MAX_RULES} rules` })
  })
  .refine(({ channels }) => !lacksBusinessNumber(channels.whatsapp), {
    path: ['channels', 'whatsapp', 'business_number'],
    message:
      'is required where channels.whatsapp.mode is a link mode: give the number that the link opens, such as "+15550001111", or the mode "template"',
    when: where(linkMembers),
  })
  .check(payload => {
    if (!where(challengeMembers)(payload)) return
    for (const { path, message } of widgetProblems(payload.value))
      payload.issues.push({ code: 'custom', input: payload.value, path, message })
  })
  .transform(withDerivedDefaults)

const challengeMembers = z.object({
  challenge: declaredSettings.shape.challenge,
  allowed_origins: declaredSettings.shape.allowed_origins,
})

/** What a vendor's widget lacks, by path. */
function widgetProblems({ challenge, allowed_origins }: Pick<AppSettings, 'challenge' | 'allowed_origins'>) {
  const { by, site_key, secret } = challenge
  if (by === 'pow') return []
  const needed = `is required where challenge.by is "${by}"`
  return [
    ...(site_key === null ? [{ path: ['challenge', 'site_key'], message: needed }] : []),
    ...(secret === null ? [{ path: ['challenge', 'secret'], message: needed }] : []),
    ...(allowed_origins.length === 0
      ? [
          {
            path: ['allowed_origins'],
            message: `needs at least one origin where challenge.by is "${by}": the widget must be solved on the host of one`,
          },
        ]
      : []),
  ]
}

/** The most that an app's settings may have as they are written, as JSON in UTF-8: every process keeps the settings of
 *  its apps in memory. */
export const MAX_SETTINGS_BYTES = 256 * 1024
/** Members and items of lists, of all of them together. More than all countries, languages and rules have, and few
 *  enough to be checked in a moment, however wrong they are. */
export const MAX_SETTINGS_VALUES = 4_000
/** Of one list or group: more than there are countries. */
const MAX_MEMBERS = 300
/** Of a list of objects, such as rules, each of which is checked member by member. */
const MAX_OBJECTS = 50
/** In a channel: the language of each message is chosen among them. */
const MAX_LANGUAGES = 100

/** Asked before settings are checked. */
export function settingsSizeProblems(settings: unknown): InputProblem[] {
  const values = countValues(settings)
  if (values > MAX_SETTINGS_VALUES)
    return [{ path: '', message: `have ${values} members and items together, and may have ${MAX_SETTINGS_VALUES}` }]
  const bytes = Buffer.byteLength(JSON.stringify(settings) ?? '')
  if (bytes > MAX_SETTINGS_BYTES)
    return [{ path: '', message: `take ${bytes} bytes as JSON, and may take ${MAX_SETTINGS_BYTES}` }]
  const texts = isJsonObject(settings) && isJsonObject(settings.texts) ? Object.entries(settings.texts) : []
  const languages = texts
    .filter(([, byLanguage]) => isJsonObject(byLanguage) && Object.keys(byLanguage).length > MAX_LANGUAGES)
    .map(([channel]) => ({ path: `texts.${channel}`, message: `has more than ${MAX_LANGUAGES} languages` }))
  return languages.length > 0 ? languages : crowded(settings)
}

/** The lists and groups with more members than one may have, by path. */
function crowded(value: unknown, path: readonly string[] = []): InputProblem[] {
  if (typeof value !== 'object' || value === null) return []
  const members = Object.entries(value)
  const most = Array.isArray(value) && value.some(isJsonObject) ? MAX_OBJECTS : MAX_MEMBERS
  if (members.length <= most) return members.flatMap(([name, member]) => crowded(member, [...path, name]))
  return [{ path: dottedPath(path), message: `has ${members.length} members or items, and may have ${most}` }]
}

const lacksBusinessNumber = (settings: z.input<typeof whatsapp> | undefined): boolean =>
  (settings?.mode ?? 'template') !== 'template' && (settings?.business_number ?? null) === null

const guessProblem = (settings: GuessSettings): string =>
  `allows ${guessesPerDay(settings)} guesses per recipient and day with limits.recipient and verify_attempts; ` +
  `a code of ${settings.code.length} digits allows ${guessBudget(settings)} (1/${MIN_GUESS_ODDS} of all codes)`

/** Settings as they are written and stored, without defaults. */
export type SettingsInput = z.input<typeof settingsSchema>

export const resolveSettings = (stored: SettingsInput): AppSettings => resolveDefaults(settingsSchema, stored)

// How a field shows a setting. In: the path of the setting, whose words and bounds come from its declaration. Out: the label, the hint, the
// choices, a stored value and the words of a refusal. Pure.
import type { SettingPath } from '../../../domain/tenancy/setting-list.ts'
import { SETTING_FIELDS } from '../../apps/settings.data.ts'
import { SCREENS, type ScreenPath } from '../../screens.ts'
import { duration, durations } from './duration.ts'
import { amount, percent } from './notation.ts'
import type { MemberAt, Settings } from './settings-patch.ts'
import { valueWords } from './value-words.ts'

/** The settings that a screen has fields for. */
export const settingsOn = (screen: ScreenPath): SettingPath[] =>
  (Object.keys(SETTING_FIELDS) as SettingPath[]).filter(path => SETTING_FIELDS[path].screen === screen)

/** What a setting is called on another screen than its own. A path that is no setting stays as it is. */
export function nameElsewhere(path: string): string {
  const field = Object.hasOwn(SETTING_FIELDS, path) ? SETTING_FIELDS[path as SettingPath] : null
  const screen = SCREENS.find(one => one.path === field?.screen)
  return field && screen ? `“${field.label}”, under ${screen.name}` : path
}

/** What a setting is called, also by the path of a member of it, such as that of one country. */
export function nameOf(path: string): string {
  const setting = settingAt(path)
  return setting ? SETTING_FIELDS[setting].label : path
}

const settingAt = (path: string): SettingPath | undefined =>
  (Object.keys(SETTING_FIELDS) as SettingPath[]).find(one => `${path}.`.startsWith(`${one}.`))

/** A stored value as its field shows it, also by the path of a member of a setting. Undefined: the member was removed. */
export function storedWords(path: string, value: unknown): string {
  const setting = settingAt(path)
  if (value === undefined) return 'removed'
  if (setting === undefined) return valueWords(value)
  if (setting === 'allowed_countries' && value === null) return 'every country'
  const { kind, choices } = SETTING_FIELDS[setting]
  // The declaration says the kind and the type of a setting; a cap has that of one country.
  if (setting === 'spend_caps' || kind === 'amount') return amount.format(value as number)
  if (kind === 'percent') return `${percent.format(value as number)}%`
  if (kind === 'duration') return duration.format(value as number)
  if (kind === 'durations') return durations.format(value as number[])
  if (kind === 'rules') return rulesWords(value as Settings['limits']['app'])
  if (kind === 'switch') return value ? 'on' : 'off'
  if (kind === 'choices') return valueWords((value as string[]).map(one => choices[one]?.label ?? one))
  return (kind === 'choice' && choices[value as string]?.label) || valueWords(value)
}

const rulesWords = (rules: Settings['limits']['app']): string =>
  rules.map(({ max, seconds }) => `at most ${max} in ${duration.format(seconds)}`).join(', ') || 'no limit'

export function labelOf(path: SettingPath): string {
  const { kind, label } = SETTING_FIELDS[path]
  return kind === 'percent' ? `${label} (%)` : label
}

export function hintOf(path: SettingPath): string {
  const { kind, hint, bounds } = SETTING_FIELDS[path]
  if (kind === 'number') return `${bounds?.min} to ${bounds?.max}. ${hint}`.trim()
  if (kind === 'durations') return `${hint} Write commas between them.`
  return kind === 'list' ? `${hint} One per line.` : hint
}

/** The server's words are about seconds and shares; undefined where they hold for the field as well. */
export function refusalOf(path: SettingPath): string | undefined {
  const { kind, bounds, default: example } = SETTING_FIELDS[path]
  if (bounds === null) return undefined
  if (kind === 'duration') return spanRefusal(bounds, example as number)
  if (kind === 'percent') return `Must be a number from ${percent.format(bounds.min)} to ${percent.format(bounds.max)}.`
  if (kind === 'amount') return `Must be an amount of at most ${amount.format(bounds.max)}, such as 25 or 0.50.`
  if (kind === 'durations')
    return `Must be times of at most ${duration.format(bounds.max)} with commas between them, such as “${durations.format(example as number[])}”.`
  return undefined
}

/** "Must be from 1 minute to 1 hour, such as “10 minutes”." */
export const spanRefusal = ({ min, max }: { min: number; max: number }, example: number): string =>
  `Must be from ${duration.format(min)} to ${duration.format(max)}, such as “${duration.format(example)}”.`

type ChoiceOf<Value> = (Value extends readonly (infer One)[] ? One : Value) & string

export const choicesOf = <Path extends SettingPath>(path: Path) =>
  Object.entries(SETTING_FIELDS[path].choices).map(([value, words]) => ({
    value: value as ChoiceOf<MemberAt<Settings, Path>>,
    ...words,
  }))

// What the fields of the dashboard show of each setting. The build of the pages runs this module (infra/web/build.ts), so that the pages
// have its words and bounds without zod.
import { type Choice, limitRule } from '../../../machines/settings.ts'
import { SETTINGS, type Setting, type SettingKind, type SettingPath } from '../../domain/tenancy/setting-list.ts'

export interface SettingField {
  kind: SettingKind
  label: string
  hint: string
  example: string
  bounds: Setting['bounds']
  choices: Readonly<Record<string, Choice>>
  default: unknown
  /** The path of the screen that has its field. */
  screen: string
}

/** Names of members stand in quotation marks: a hint has no markup. */
const withoutMarkup = (text: string): string => text.replaceAll(/`([^`]+)`/g, '“$1”')

export const SETTING_FIELDS = Object.fromEntries(
  SETTINGS.map(
    ({ path, kind, title, description, example, bounds, choices, screen, default: value }): [string, SettingField] => [
      path,
      { kind, label: title, hint: withoutMarkup(description), example, bounds, choices, default: value, screen },
    ],
  ),
) as Readonly<Record<SettingPath, SettingField>>

const { minValue, maxValue } = limitRule.shape.seconds

/** The bounds of a rule's seconds. */
export const RULE_SECONDS = { min: minValue ?? 0, max: maxValue ?? 0 }

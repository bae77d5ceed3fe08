// Every setting of an app by its path, as machines/settings.ts declares it. Out: its words, what it may be, and its default, for the
// fields of the dashboard and docs/settings.md.
import { z } from 'zod'
import {
  type AppSettings,
  CHOICES,
  type Choice,
  declaredSettings,
  limitRule,
  withDerivedDefaults,
} from '../../../machines/settings.ts'

type PathIn<T> = {
  [Name in keyof T & string]: T[Name] extends readonly unknown[]
    ? Name
    : T[Name] extends object
      ? string extends keyof T[Name]
        ? Name
        : `${Name}.${PathIn<T[Name]>}`
      : Name
}[keyof T & string]

/** `code.length`. A list, or an object by country, is one setting. */
export type SettingPath = PathIn<AppSettings>

export type SettingKind =
  | 'switch'
  | 'choice'
  | 'number'
  | 'percent'
  | 'duration'
  | 'durations'
  | 'text'
  | 'optional_text'
  | 'list'
  | 'rules'
  | 'by_country'

/** The words of machines/settings.ts; a text is empty where there is none. */
export interface SettingWords {
  title: string
  description: string
  more: string
  values: string
  example: string
}

export interface Setting extends SettingWords {
  path: SettingPath
  kind: SettingKind
  /** Of a number, or of each number of a list. */
  bounds: { min: number; max: number } | null
  choices: Readonly<Record<string, Choice>>
  default: unknown
}

export const SETTINGS: readonly Setting[] = settingsIn(
  declaredSettings,
  withDerivedDefaults(declaredSettings.parse({})),
  '',
)

function settingsIn(group: z.ZodObject, defaults: object, above: string): Setting[] {
  return Object.entries(group.shape as Record<string, z.ZodType>).flatMap(([name, member]) => {
    const path = `${above}${name}`
    const schema = withoutDefault(member)
    const value: unknown = (defaults as Record<string, unknown>)[name]
    if (schema instanceof z.ZodObject) return settingsIn(schema, value as object, `${path}.`)
    const { title = '', unit, ...words } = (member.meta() ?? {}) as Partial<SettingWords> & { unit?: Unit }
    if (title === '') throw new Error(`the setting ${path} has no title`)
    return {
      title,
      description: words.description ?? '',
      more: words.more ?? '',
      values: words.values ?? '',
      example: words.example ?? '',
      path: path as SettingPath,
      kind: kindOf(schema, unit, member.safeParse(null).success),
      bounds: boundsOf(schema),
      choices: CHOICES.get(schema) ?? {},
      default: value,
    }
  })
}

/** The schema of a value that was given. */
export function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  return isWrapped ? withoutDefault(schema.def.innerType) : schema
}

type Unit = 'duration' | 'percent'

function kindOf(schema: z.core.$ZodType, unit: Unit | undefined, mayBeNull: boolean): SettingKind {
  if (schema instanceof z.ZodBoolean) return 'switch'
  if (schema instanceof z.ZodEnum) return 'choice'
  if (schema instanceof z.ZodNumber) return unit ?? 'number'
  if (schema instanceof z.ZodRecord) return 'by_country'
  if (!(schema instanceof z.ZodArray)) return mayBeNull ? 'optional_text' : 'text'
  if (schema.element === limitRule) return 'rules'
  return unit === 'duration' ? 'durations' : 'list'
}

function boundsOf(schema: z.core.$ZodType): Setting['bounds'] {
  if (schema instanceof z.ZodArray) return boundsOf(schema.element)
  if (!(schema instanceof z.ZodNumber)) return null
  return { min: schema.minValue ?? Number.MIN_SAFE_INTEGER, max: schema.maxValue ?? Number.MAX_SAFE_INTEGER }
}

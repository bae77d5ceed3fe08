// Every setting of an app by its path, as machines/settings.ts declares it. Out: its words, what it may be, and its default, for the
// fields of the dashboard, the API reference and docs/settings.md.
import { z } from 'zod'
import {
  type AppSettings,
  CHOICES,
  type Choice,
  declaredSettings,
  limitRule,
  type SettingStepUp,
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

/** `code.length`. A list, or an object by country or language, is one setting. */
export type SettingPath = PathIn<AppSettings>
export type SettingKind = ReturnType<typeof kindOf>

/** A text is empty where the declaration has none. */
const NO_WORDS = { title: '', description: '', more: '', values: '', example: '', screen: '' }

export interface Setting extends Readonly<typeof NO_WORDS> {
  path: SettingPath
  kind: SettingKind
  /** The bounds of a number, or of each number of a list. */
  bounds: { min: number; max: number } | null
  choices: Readonly<Record<string, Choice>>
  /** Null: a session may make any change of it. */
  stepUp: SettingStepUp | null
  default: unknown
}

type Values = Record<string, unknown>

export const SETTINGS = settingsIn(declaredSettings, withDerivedDefaults(declaredSettings.parse({})), '', '')

function settingsIn(group: z.ZodObject, defaults: Values, above: string, screenAbove: string): Setting[] {
  return Object.entries(group.shape as Record<string, z.ZodType>).flatMap(([name, member]) => {
    const path = `${above}${name}` as SettingPath
    const schema = withoutDefault(member)
    if (schema instanceof z.ZodObject) {
      const { screen = screenAbove } = schema.meta() as Partial<typeof NO_WORDS>
      return settingsIn(schema, defaults[name] as Values, `${path}.`, screen)
    }
    const words = { ...NO_WORDS, screen: screenAbove, ...(member.meta() as Partial<typeof NO_WORDS>) }
    if (words.title === '') throw new Error(`the setting ${path} has no title`)
    const choices = CHOICES.get(schema instanceof z.ZodArray ? schema.element : schema) ?? {}
    const kind = kindOf(member)
    const { stepUp = kind === 'rules' ? 'raised_tenfold' : null } = member.meta() as { stepUp?: SettingStepUp }
    return { ...words, path, kind, bounds: boundsOf(schema), choices, stepUp, default: defaults[name] }
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

function kindOf(member: z.ZodType) {
  const schema = withoutDefault(member)
  const { unit } = member.meta() as { unit?: 'duration' | 'percent' | 'amount' }
  if (schema instanceof z.ZodBoolean) return 'switch'
  if (schema instanceof z.ZodEnum) return 'choice'
  if (schema instanceof z.ZodNumber) return unit ?? 'number'
  if (schema instanceof z.ZodString) return member.safeParse(null).success ? 'optional_text' : 'text'
  if (!(schema instanceof z.ZodArray)) return 'by_name'
  if (schema.element === limitRule) return 'rules'
  if (CHOICES.has(schema.element)) return 'choices'
  return unit === 'duration' ? 'durations' : 'list'
}

function boundsOf(schema: z.core.$ZodType): Setting['bounds'] {
  if (schema instanceof z.ZodArray) return boundsOf(schema.element)
  return schema instanceof z.ZodNumber ? { min: schema.minValue ?? 0, max: schema.maxValue ?? 0 } : null
}

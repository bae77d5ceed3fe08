// The settings of an app in the OpenAPI document, from their declaration. Out: the schema of an answer, in which every setting is present
// and has no bounds, because an earlier release may have stored other values; and the schema of a change. The service checks a change with
// the declaration itself.
import { z } from 'zod'
import { type AppSettings, declaredSettings } from '../../../machines/settings.ts'
import { withoutDefault } from '../../domain/tenancy/setting-list.ts'

/** Each member of a group as `derive` makes it, with the words of its declaration. */
const membersOf = (group: z.ZodObject, derive: (member: z.ZodType, name: string) => z.ZodType) =>
  Object.fromEntries(
    Object.entries(group.shape as Record<string, z.ZodType>).map(([name, member]) => {
      const derived = derive(member, name)
      const { title, description } = member.meta() ?? {}
      const text = [title && `${title}.`, description].filter(Boolean).join(' ')
      // A schema with a name of its own has a description there.
      return [name, text === '' || derived.meta()?.id !== undefined ? derived : derived.meta({ description: text })]
    }),
  )

/** The answer's schema by that of the declaration: a group that occurs twice has one name in the document. */
const answers = new Map<z.core.$ZodType, z.ZodType>()

function answerOf(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodNullable) return answerOf(schema.def.innerType).nullable()
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return answerOf(schema.def.innerType)
  if (schema instanceof z.ZodArray) return z.array(answerOf(schema.element))
  if (schema instanceof z.ZodRecord) return z.record(z.string(), answerOf(schema.valueType))
  if (schema instanceof z.ZodNumber) return schema.isInt ? z.int() : z.number()
  if (schema instanceof z.ZodString) return z.string()
  if (!(schema instanceof z.ZodObject)) return schema as z.ZodType
  const { id = '', description } = schema.meta() ?? {}
  const answer =
    answers.get(schema) ?? z.object(membersOf(schema, answerOf)).meta({ id: id.replace(/Input$/, ''), description })
  answers.set(schema, answer)
  return answer
}

function patchOf(schema: z.core.$ZodType, name: string): z.ZodType {
  const value = withoutDefault(schema)
  if (!(value instanceof z.ZodObject)) return value as z.ZodType
  return z.strictObject(membersOf(value, (member, name) => patchOf(member, pascalCase(name)).nullish())).meta({
    id: `${name}Patch`,
    description:
      'Settings to change. What is absent stays, null resets to the default. docs/settings.md describes each.',
  })
}

const pascalCase = (name: string): string =>
  name
    .split('_')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

export const appSettings = answerOf(declaredSettings) as z.ZodType<AppSettings>

export const settingsPatch = patchOf(declaredSettings, 'AppSettings')

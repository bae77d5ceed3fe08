// The schema of a change of settings, for the OpenAPI document. In: the schema of the settings. Out: the same with every member optional,
// and null in each to reset it to its default. The service checks a change with the schema of the settings itself.
import { z } from 'zod'
import { settingsSchema } from '../../domain/tenancy/settings.ts'

function patchOf(schema: z.core.$ZodType, name: string): z.ZodType {
  const inner = withoutDefault(schema)
  if (!(inner instanceof z.ZodObject)) return inner as z.ZodType
  const members = Object.entries(inner.shape as Record<string, z.ZodType>).map(
    ([member, value]) => [member, patchOf(value, pascalCase(member)).nullish()] as const,
  )
  return z.strictObject(Object.fromEntries(members)).meta({
    id: `${name}Patch`,
    description:
      'Settings to change. What is absent stays, null resets to the default. docs/settings.md describes each.',
  })
}

function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  return isWrapped ? withoutDefault(schema.def.innerType) : schema
}

const pascalCase = (name: string): string =>
  name
    .split('_')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

export const settingsPatch = patchOf(settingsSchema.in, 'AppSettings')

// In: an app's settings as they are stored, and what an operator wants changed. Out: the settings to store, or every problem by path.
// Members given are merged, objects member by member; lists and values replace; null takes a member back to its default.
import { type CheckResult, check, findUnknownMembers, UNKNOWN_MEMBER } from '../domain/tenancy/problems.ts'
import { type SettingsInput, settingsSchema } from '../domain/tenancy/settings.ts'

export type JsonObject = Record<string, unknown>

export function patchSettings(stored: SettingsInput, patch: JsonObject): CheckResult<SettingsInput> {
  const merged = merge(stored, patch)
  const checked = check(settingsSchema, merged)
  const problems = [
    // Of the patch, not of the result: a mistyped reset leaves no trace there.
    ...findUnknownMembers(settingsSchema, withoutResets(patch)),
    // And a member that a later release stored is none of this operator's business.
    ...(checked.ok ? [] : checked.problems.filter(({ message }) => message !== UNKNOWN_MEMBER)),
  ]
  const byPath = new Map(problems.map(problem => [problem.path, problem]))
  // It was just checked against the schema this type is made from.
  return byPath.size > 0 ? { ok: false, problems: [...byPath.values()] } : { ok: true, value: merged as SettingsInput }
}

function merge(stored: JsonObject, patch: JsonObject): JsonObject {
  // Entries, not assignments: a member named `__proto__` stays a member, and is found and refused.
  const members = new Map(Object.entries(stored))
  for (const [name, wanted] of Object.entries(patch)) {
    const value = isJsonObject(wanted) ? merge(jsonObjectOrEmpty(members.get(name)), wanted) : wanted
    // A group in which nothing is chosen any more is as good as none.
    if (value === null || (isJsonObject(value) && Object.keys(value).length === 0)) members.delete(name)
    else members.set(name, value)
  }
  return Object.fromEntries(members)
}

/** Names are kept, for they are what is checked. */
const withoutResets = (patch: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [
      name,
      value === null ? undefined : isJsonObject(value) ? withoutResets(value) : value,
    ]),
  )

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const jsonObjectOrEmpty = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
